// The document that a passage is of: the shares of its groups, and its passages in their colours.

import { chooseGroup } from "../groups/grouping.js";
import { seenColour } from "../lib/colours.js";
import { bdi, make, part, textButton } from "../lib/dom.js";
import { counted, percent } from "../lib/format.js";

/** @import { App, Documents, Labels, Passages } from "../types.d.ts" */

const NAMED = 3; // groups

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
 * Return the groups of a document and their shares of its words, the largest first.
 * @param {Passages} passages @param {Labels} labels @param {number} i
 */
export function sharesOf(passages, labels, i) {
  const { first, end } = passagesOf(passages, i);
  /** @type {Map<number, number>} */
  const found = new Map();
  for (let j = first; j < end; j++)
    found.set(labels[j], (found.get(labels[j]) ?? 0) + passages.weight[j]);
  return [...found].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
}

/** @param {App} app @param {Documents} documents @param {number} i */
export function shareBar(app, { passages }, i) {
  if (!passages) return null;
  const groups = app.groups();
  const parts = sharesOf(passages, groups.labels, i).map(([id, share]) => {
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
