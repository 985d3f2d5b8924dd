// The document that a passage is of: the shares of its groups, and its passages in their colours.

import { chooseGroup } from "../groups/grouping.js";
import { seenColour } from "../lib/colours.js";
import { bdi, make, part, textButton } from "../lib/dom.js";
import { counted, percent } from "../lib/format.js";
import { sharesIn } from "./shares.js";

/** @import { App, Documents, Labels, Passages } from "../types.d.ts" */
/** @import { Split } from "./shares.js" */

const NAMED = 3; // groups
const LEAST = 0.005; // share that a bar shows

/**
 * Return the first passage of the document of a passage, and the one after its last.
 * @param {Pick<Passages, "document">} passages @param {number} i
 */
export function passagesOf({ document }, i) {
  let [first, end] = [i, i + 1];
  while (first > 0 && document[first - 1] === document[i]) first--;
  while (end < document.length && document[end] === document[i]) end++;
  return { first, end };
}

/**
 * Return the groups of the document of a passage and their shares, the largest first.
 * @param {Split} documents @param {Labels} labels @param {number} i
 */
export function sharesOf(documents, labels, i) {
  const { ids, values } = sharesIn(documents, labels);
  const start = (documents.passages?.document[i] ?? 0) * ids.length;
  return ids
    .map((id, at) => /** @type {[number, number]} */ ([id, values[start + at]]))
    .sort((a, b) => b[1] - a[1] || a[0] - b[0]);
}

/** Return the share of the group of a passage in its document. @param {Split} documents @param {Labels} labels @param {number} i */
function shareAt(documents, labels, i) {
  const { ids, values } = sharesIn(documents, labels);
  return values[(documents.passages?.document[i] ?? 0) * ids.length + ids.indexOf(labels[i])];
}

/** Return this share as text. @param {App} app @param {Documents} documents @param {number} i */
export function shareTag(app, documents, i) {
  if (!documents.passages) return null;
  const share = shareAt(documents, app.groups().labels, i);
  const title = "Share of this group in the whole document";
  return make("span", { class: "soft number", title, text: percent(share) });
}

/**
 * Return one passage of each document, the first that is listed.
 * @param {Pick<Passages, "document">} passages @param {number[]} found
 */
export function firstOfEach({ document }, found) {
  /** @type {Set<number>} */
  const seen = new Set();
  return found.filter((i) => !seen.has(document[i]) && seen.add(document[i]));
}

/**
 * Return one passage of each document, the first that is listed, by the share of its group in the document.
 * @param {Split & { passages: Passages }} documents @param {Labels} labels
 * @param {number[]} found the most typical first
 */
export function byShare(documents, labels, found) {
  return firstOfEach(documents.passages, found)
    .map((i) => ({ i, share: shareAt(documents, labels, i) }))
    .sort((a, b) => b.share - a.share)
    .map(({ i }) => i);
}

/** @param {App} app @param {Documents} documents @param {number} i */
export function shareBar(app, documents, i) {
  if (!documents.passages) return null;
  const groups = app.groups();
  const seen = sharesOf(documents, groups.labels, i).filter(([, share]) => share >= LEAST);
  const parts = seen.map(([id, share]) => {
    const group = groups.byId.get(id);
    const name = group?.name() ?? "";
    const bar = make("span", { title: `${name}: ${percent(share)}` });
    bar.style.flexGrow = String(share);
    if (group) bar.style.background = seenColour(group.colour);
    const click = () => chooseGroup(app.state, groups, id, { document: app.state.now.document });
    const told = make("span", {}, textButton(bdi(name), click), ` ${percent(share)}`);
    return { bar, told };
  });
  const more = parts.length - NAMED;
  return make(
    "div",
    { class: "document-shares" },
    make("div", { class: "shares", "aria-hidden": "true" }, ...parts.map(({ bar }) => bar)),
    make(
      "p",
      { class: "soft" },
      "The whole document: ",
      ...parts.slice(0, NAMED).flatMap(({ told }, at) => (at ? [", ", told] : [told])),
      more > 0 ? `, and ${counted(more, "more group")}` : "",
    ),
  );
}

/** @param {App} app @param {Documents} documents @param {number} i */
export function wholeText(app, { passages, text }, i) {
  if (!passages || !text) return null;
  const { first, end } = passagesOf(passages, i);
  if (end - first < 2) return null;
  const groups = app.groups();
  const each = Array.from({ length: end - first }, (_, at) => {
    const j = first + at;
    const group = groups.byId.get(groups.labels[j]);
    const click = () => chooseGroup(app.state, groups, groups.labels[j], { document: j });
    const box = make(
      "div",
      { class: j === i ? "passage here" : "passage", dir: "auto" },
      textButton(bdi(group?.name() ?? ""), click, { title: "Choose this passage and its group" }),
      make("div", { class: "passage-text", text: text[j] }),
    );
    if (group) box.style.borderInlineStartColor = seenColour(group.colour);
    return box;
  });
  return part("The whole document", `${end - first} passages, by their groups`, ...each);
}
