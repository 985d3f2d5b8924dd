// The list of edits, and how they become those of the run: a command, or a click where the page is served.

import { bdi, find, make, present, softLine, textButton } from "../lib/dom.js";
import { copyText, saveText } from "../lib/files.js";
import { counted } from "../lib/format.js";
import { tellEdit } from "./sentences.js";
import { applyEdits, isServed, runFolder } from "./serve.js";
import { undoButton } from "./tools.js";

/** @import { App } from "../types.d.ts" */

const ALONE = "This report is not that of a run: the edits can be saved, but not applied.";
const SERVED = "The page shows them, and the groups are not fitted again yet.";
const NONE =
  "None yet. Rename, merge or split groups, move documents, drop words and write notes: the page shows it " +
  "at once, keeps it in this browser, and nothing of the run changes before you apply it.";

/**
 * Return the command that applies the edits. A page that lies in the folder of its run knows the folder.
 * @param {Pick<Location, "protocol" | "pathname">} place
 */
export function editCommand(place) {
  return `spheremix edit ${runFolder(place)} edits.json`;
}

/** @param {App} app */
export function mountEdits(app) {
  const { content, state, edits } = app;
  const dialog = find("edits");
  const button = find("edits-button");
  const close = make("button", { type: "button", text: "close" });
  const clear = make("button", { type: "button", text: "undo all" });
  const save = make("button", { type: "button", id: "save-edits", text: "save edits.json" });
  close.addEventListener("click", () => dialog.close());
  clear.addEventListener("click", () => edits.clear());
  save.addEventListener("click", () =>
    saveText("edits.json", `${JSON.stringify(edits.record(), null, 1)}\n`, "application/json"),
  );
  const apply = isServed(location) && content.run ? applyButton(app) : null;
  find("edits-actions").replaceChildren(...present([apply, save, clear, close]));
  button.addEventListener("click", () => dialog.showModal());
  state.follow(["edited"], () => {
    const list = edits.list();
    button.textContent = list.length ? counted(list.length, "edit") : "edits";
    button.title = list.length ? "Not fitted again yet" : "";
    save.disabled = list.length === 0;
    clear.disabled = list.length === 0;
    if (apply) apply.disabled = list.length === 0;
    const before = content.edits?.changes ?? [];
    const lines = list.map((edit, at) =>
      make("li", {}, ...tellEdit(app, edit), " ", undoButton(app, at)),
    );
    find("edits-body").replaceChildren(
      ...(before.length ? [make("p", { text: `The run was edited: ${before.join(" ")}` })] : []),
      ...(list.length ? [make("ol", {}, ...lines), howTo(app)] : [make("p", { text: NONE })]),
    );
  });
}

// Return what applies the edits where the page is served, shows how far that is, and then the new page.
/** @param {App} app */
function applyButton({ edits }) {
  const button = make("button", {
    type: "button",
    id: "apply-edits",
    class: "primary",
    text: "apply",
  });
  const bar = make("progress", { max: 1, value: 0, "aria-label": "How far" });
  const said = make("p", { role: "status" });
  const place = make("div", { id: "applying", hidden: true }, bar, said);
  find("edits-actions").before(place);
  const apply = async () => {
    const inside = [...find("edits").querySelectorAll("button")];
    const before = inside.map((one) => one.disabled);
    for (const one of inside) one.disabled = true;
    place.hidden = bar.hidden = false;
    said.className = "";
    said.textContent = "Sending the edits";
    const end = await applyEdits(edits.record(), ({ what, share }) => {
      said.textContent = what;
      bar.value = share;
    });
    if (end.state === "done") {
      edits.clear(); // they are the run's now
      location.reload();
      return;
    }
    inside.forEach((one, i) => (one.disabled = before[i]));
    bar.hidden = true;
    said.className = "warning";
    said.textContent = end.message || "The edits were not applied.";
  };
  button.addEventListener("click", apply);
  return button;
}

// Return how the edits become those of the run.
/** @param {App} app */
function howTo({ content }) {
  if (!content.run) return softLine(ALONE);
  if (isServed(location)) return make("p", { text: SERVED });
  const command = editCommand(location);
  const copy = textButton("copy", () => copyText(command), { title: "Copy the command" });
  const code = make("code", {}, bdi(command));
  return make(
    "p",
    {},
    "The page shows them, and the groups are not fitted again yet. Save edits.json, and where you saved it run ",
    code,
    " ",
    copy,
  );
}
