// All documents of a group, where the page has a sample of them: from the server, or how to get them.

import { isServed, askDocuments, runFolder } from "../edits/serve.js";
import { chosenId } from "../groups/grouping.js";
import { bdi, find, make, present, textButton } from "../lib/dom.js";
import { copyText } from "../lib/files.js";
import { countedRows, integer } from "../lib/format.js";
import { partsOf } from "../tabs/counts.js";
import { firstLine } from "./filters.js";

/** @import { App, Counted, Labels } from "../types.d.ts" */
/** @import { ListedDocument } from "../edits/serve.js" */

/**
 * Return the strata that a group is made of; null where one of them is in several groups.
 * @param {Counted} counted @param {Labels} labels @param {number} id of the group
 */
export function strataOf(counted, labels, id) {
  const strata = [];
  for (const [stratum, own] of partsOf(counted, labels, [id]).entries()) {
    const part = own.find(({ place }) => place === 0);
    if (part && part.share < 1) return null;
    if (part) strata.push(stratum);
  }
  return strata;
}

/**
 * Return what the list of a group lacks, and what shows it; null where the page has all documents.
 * @param {App} app @param {number} n of its documents that the page has
 */
export function aboutWhole(app, n) {
  const { content, state, groups } = app;
  const { byId, labels } = groups();
  const counted = content.documents?.counted;
  const group = byId.get(chosenId(state.now));
  const strata = counted && group ? strataOf(counted, labels, group.id) : null;
  if (!counted || !group || !content.run || state.now.scope === "all") return null;
  const said = `${integer(n)} of ${countedRows(Math.round(group.size))} are on this page. `;
  if (isServed(location))
    return present([
      said,
      strata && textButton("list all", () => openWhole(group.name(), strata), { id: "list-all" }),
    ]);
  const command = `spheremix serve ${runFolder(location)}`;
  const copy = textButton("copy", () => copyText(command), { title: "Copy the command" });
  return [said, make("code", { text: command }), " lists all. ", copy];
}

/** @param {string} name @param {number[]} strata */
function openWhole(name, strata) {
  const dialog = find("whole");
  const place = make("span", { class: "soft", role: "status" });
  const list = make("div", { class: "whole-list", tabindex: "0" });
  const close = make("button", { type: "button", text: "close" });
  const before = make("button", { type: "button", text: "‹", "aria-label": "Before" });
  const after = make("button", { type: "button", text: "›", "aria-label": "Next" });
  close.addEventListener("click", () => dialog.close());
  let start = 0;
  let step = 0;
  const show = async (/** @type {number} */ from) => {
    before.disabled = after.disabled = true;
    const { n, documents, message } = await askDocuments(strata, from);
    start = from;
    step = Math.max(step, documents.length);
    const last = start + documents.length;
    place.textContent =
      message || (n ? `${integer(start + 1)} to ${integer(last)} of ${integer(n)}` : "none");
    list.replaceChildren(...documents.map(wholeRow));
    list.scrollTop = 0;
    before.disabled = start === 0;
    after.disabled = last >= n;
  };
  before.addEventListener("click", () => void show(Math.max(0, start - step)));
  after.addEventListener("click", () => void show(start + step));
  dialog.replaceChildren(
    make("h2", {}, bdi(name)),
    list,
    make("div", { class: "buttons" }, before, after, place, close),
  );
  place.textContent = "Reading the run";
  dialog.showModal();
  void show(0);
}

// A document: a line, and its text with a click.
/** @param {ListedDocument} document */
function wholeRow({ id, title, text, about }) {
  const line = title || firstLine(text).line || id;
  const tags = about.map((one) => bdi(one, { class: "tag soft" }));
  return make(
    "details",
    {},
    make("summary", { title: id }, bdi(line, { class: "strong" }), " ", ...tags),
    make("p", { class: "text" }, bdi(text)),
  );
}
