// What can be done with a group or a document, the questions that are asked, and the list of what was
// done.

import { bdi, find, make, present, rove, selectOf, softLine, textButton } from "../lib/dom.js";
import { saveText } from "../lib/files.js";
import { counted } from "../lib/format.js";
import { countEdits, mergeSets, noteOf } from "./edits.js";

/** @import { App, Documents, EditRecord, Group } from "../types.d.ts" */

const APPLY = "Save them as edits.json and run: spheremix edit RUN edits.json";
const MERGED =
  "Saved tables have one name for both from now on. On the page they become one group after you " +
  "save the edits and run spheremix edit.";
const SPLIT = "To be split into two, when you save the edits and run spheremix edit.";
const ALONE = "This report is not that of a run: the edits can be saved, but not applied.";

/** @type {(text: string, title: string, click: () => void) => HTMLElement} */
const tool = (text, title, click) => make("button", { type: "button", text, title, on: { click } });

// Return tools of a group of the model; a group of the tree can only be compared by choosing it.
/** @param {App} app @param {Group} group */
export function groupTools(app, group) {
  const { content, state, edits } = app;
  if (!app.groups().exact) return null;
  const k = group.id;
  const others = app
    .groups()
    .groups.filter(({ id }) => id !== k)
    .map(({ id, name }) => /** @type {[string, string]} */ ([String(id), name()]));
  const { merge, split, notes } = edits.record();
  const joined = merge.find((one) => one.includes(k));
  const note = noteOf(notes.groups, k) ?? noteOf(content.edits?.notes.groups, k) ?? "";
  const rename = () =>
    ask(
      "Rename the group",
      `Leave it empty to have the name that it had: ${edits.original(k)}`,
      { text: content.names[k] },
      (name) =>
        edits.change((record) => {
          delete record.names[k];
          if (name && name !== edits.original(k)) record.names[k] = name;
        }),
    );
  const join = () =>
    ask(
      "Merge with another group",
      MERGED,
      { begin: "choose a group …", choices: others },
      (other) =>
        edits.change((record) => {
          record.merge = mergeSets(record.merge, k, Number(other));
        }),
    );
  const divide = () =>
    edits.change((record) => {
      record.split = split.includes(k) ? split.filter((one) => one !== k) : [...split, k];
    });
  const annotate = () =>
    ask("Note on the group", "", { text: note, long: true }, (text) =>
      edits.change((record) => {
        delete record.notes.groups[k];
        if (text) record.notes.groups[k] = text;
      }),
    );
  const undo = () =>
    edits.change((record) => {
      record.merge = merge.filter((one) => one !== joined);
    });
  return make(
    "div",
    {},
    rove(
      make(
        "div",
        { class: "group-tools" },
        ...present([
          others.length ? compareChoice(state, others) : null,
          tool("rename", "Give this group another name", rename),
          others.length ? tool("merge", "Make one group of this and another one", join) : null,
          tool(
            split.includes(k) ? "do not split" : "split",
            "Ask for two groups out of this one",
            divide,
          ),
          tool("note", "Write a note on this group", annotate),
        ]),
      ),
      "button",
    ),
    ...present([
      joined
        ? make(
            "p",
            { class: "edited" },
            "To be merged: ",
            bdi(joined.map((one) => content.names[one]).join(" + ")),
            `. ${MERGED} `,
            textButton("undo", undo),
          )
        : null,
      split.includes(k) ? make("p", { class: "edited", text: SPLIT }) : null,
      note ? make("p", { class: "edited" }, "Note: ", bdi(note)) : null,
    ]),
  );
}

/** @param {App["state"]} state @param {[string, string][]} others */
function compareChoice(state, others) {
  const choices = /** @type {[string, string][]} */ ([["-1", "compare with …"], ...others]);
  const choose = (/** @type {string} */ value) => state.set({ compared: Number(value) });
  const select = selectOf("compare", "Compare with another group", choices, choose);
  select.value = String(state.now.compared);
  return select;
}

/** @param {App} app @param {Documents} documents @param {number} i */
export function documentTools({ content, edits }, documents, i) {
  const id = documents.id[i];
  const before = content.edits;
  const note =
    noteOf(edits.record().notes.documents, id) ?? noteOf(before?.notes.documents, id) ?? "";
  const wrong = edits.isMisplaced(id);
  const mark = () =>
    edits.change((record) => {
      record.misplaced = wrong
        ? record.misplaced.filter((one) => one !== id)
        : [...record.misplaced, id];
    });
  const annotate = () =>
    ask("Note on the document", "", { text: note, long: true }, (text) =>
      edits.change((record) => {
        delete record.notes.documents[id];
        // Written like this, even __proto__ is a key like any other.
        if (text) record.notes.documents = { ...record.notes.documents, [id]: text };
      }),
    );
  return make(
    "div",
    {},
    make(
      "div",
      { class: "group-tools" },
      tool(wrong ? "not misplaced" : "misplaced", "It does not belong to this group", mark),
      tool("note", "Write a note on this document", annotate),
    ),
    wrong || before?.misplaced.includes(id)
      ? make("p", { class: "edited", text: "Marked as misplaced." })
      : null,
    note ? make("p", { class: "edited" }, "Note: ", bdi(note)) : null,
  );
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
  find("edits-actions").replaceChildren(save, clear, close);
  button.addEventListener("click", () => dialog.showModal());
  state.follow(["edited"], () => {
    const n = countEdits(edits.record());
    button.textContent = n ? `edits: ${n}` : "edits";
    save.disabled = n === 0;
    clear.disabled = n === 0;
    const before = content.edits?.changes ?? [];
    find("edits-body").replaceChildren(
      ...(before.length ? [make("p", { text: `The run was edited: ${before.join(" ")}` })] : []),
      ...(n
        ? [
            make("ul", {}, ...lines(edits.record(), content.names)),
            softLine(`${counted(n, "edit")}. ${content.run ? APPLY : ALONE}`),
          ]
        : [
            make("p", {
              text:
                "None yet. Rename, merge or split groups, drop words and write notes: the edits " +
                "are kept in this browser, can be saved, and can be applied to the run.",
            }),
          ]),
    );
  });
}

/** @param {EditRecord} record @param {string[]} names */
function lines(record, names) {
  const line = (/** @type {string} */ what, /** @type {string} */ value) =>
    make("li", {}, `${what}: `, bdi(value));
  return [
    ...Object.entries(record.names).map(([k, name]) => line(`name of group ${k}`, name)),
    ...record.merge.map((set) => line("merge", set.map((k) => names[k]).join(" + "))),
    ...record.split.map((k) => line("split", names[k])),
    ...record.drop_words.map((word) => line("drop the word", word)),
    ...Object.entries(record.notes.groups).map(([k, text]) =>
      line(`note on ${names[Number(k)]}`, text),
    ),
    ...Object.entries(record.notes.documents).map(([id, text]) => line(`note on ${id}`, text)),
    ...record.misplaced.map((id) => line("misplaced", id)),
  ];
}

// A question in a dialog: a text or a choice.

/** @typedef {{ text: string, long?: boolean } | { begin: string, choices: [string, string][] }} Field */

/**
 * @param {string} title @param {string} about @param {Field} field
 * @param {(value: string) => void} onAnswer
 */
export function ask(title, about, field, onAnswer) {
  const dialog = find("ask");
  const form = find("ask-form");
  find("ask-title").textContent = title;
  const input = inputOf(field, title);
  const cancel = make("button", { type: "button", text: "cancel" });
  cancel.addEventListener("click", () => dialog.close());
  const ok = make("button", { type: "submit", text: "ok" });
  form.replaceChildren(softLine(about), input, make("div", { class: "buttons" }, ok, cancel));
  // Nothing is chosen at first, so that a quick ok does no harm.
  if ("choices" in field) {
    ok.disabled = true;
    input.addEventListener("change", () => (ok.disabled = input.value === ""));
  }
  form.onsubmit = (event) => {
    event.preventDefault();
    dialog.close();
    onAnswer(input.value.trim());
  };
  dialog.showModal();
  input.focus();
  if ("text" in field && !field.long && "select" in input) input.select();
}

/** @param {Field} field @param {string} label */
function inputOf(field, label) {
  if ("choices" in field)
    return make(
      "select",
      { "aria-label": label },
      make("option", { value: "", text: field.begin }),
      ...field.choices.map(([value, text]) => make("option", { value, text })),
    );
  if (field.long) {
    const area = make("textarea", { rows: 4, "aria-label": label });
    area.value = field.text;
    return area;
  }
  const line = make("input", { type: "text", "aria-label": label, autocomplete: "off" });
  line.value = field.text;
  return line;
}
