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

/** Return the share of the group of a passage in its document, as text. @param {App} app @param {Documents} documents @param {number} i */
export function shareTag(app, { passages }, i) {
  if (!passages) return null;
  const { labels } = app.groups();
  const [, share] = sharesOf(passages, labels, i).find(([id]) => id === labels[i]) ?? [0, 0];
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
 * @param {Passages} passages @param {Labels} labels @param {number[]} found the most typical first
 */
export function byShare(passages, labels, found) {
  const { document, weight } = passages;
  let most = 1;
  for (const one of labels) most = Math.max(most, one + 1);
  const keyOf = (/** @type {number} */ i) => document[i] * most + labels[i];
  /** @type {Map<number, number>} */
  const shares = new Map();
  for (let i = 0; i < document.length; i++)
    shares.set(keyOf(i), (shares.get(keyOf(i)) ?? 0) + weight[i]);
  const shareOf = (/** @type {number} */ i) => shares.get(keyOf(i)) ?? 0;
  return firstOfEach(passages, found).sort((a, b) => shareOf(b) - shareOf(a));
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
