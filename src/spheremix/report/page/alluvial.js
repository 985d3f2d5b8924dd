// How groups merge and divide: documents as streams between several numbers of groups of the tree.

import { make, makeSvg } from "./dom.js";
import { counted, integer } from "./format.js";
import { seenColour } from "./group_colours.js";

/** @import { App, Grouping } from "./types.d.ts" */

const WIDE = 900;
const HIGH = 300;
const BLOCK = 12; // width of a block
const GAP = 5; // between blocks
const NAME = 130; // room for names at the right

// Streams of documents between fewer groups, those of the model, and more of them.
/** @param {App} app */
export function flowPart(app) {
  const { content, state } = app;
  const { tree, model, advice, documents } = content;
  if (!tree || !documents?.leaf) return [];
  const K = model.n_clusters;
  const others = (advice?.recommended ?? []).map((one) => one.n_clusters);
  const fits = (/** @type {number} */ m) => m >= 2 && m <= tree.leaves && m !== K;
  const fewer = others.find((m) => m < K && fits(m)) ?? Math.ceil(K / 2);
  const more = others.find((m) => m > K && fits(m)) ?? tree.leaves;
  const now = state.now.cut;
  const numbers = [...new Set([fewer, K, more, ...(now ? [now] : [])])]
    .filter((m) => m === K || fits(m))
    .sort((a, b) => a - b);
  if (numbers.length < 2) return [];
  const cuts = numbers.map((m) => (m === K ? 0 : m));
  const choose = (/** @type {number} */ cut, /** @type {number} */ id) =>
    state.set({ cut, step: content.chosen, [cut ? "node" : "cluster"]: id });
  return [
    make(
      "h3",
      {},
      "How groups merge and divide",
      make("span", { class: "note", text: "documents as streams; click a group to choose it" }),
    ),
    alluvial(app, cuts, choose),
  ];
}

// How many documents go from each group to each group of the next column.
/** @param {Pick<Grouping, "labels">} from @param {Pick<Grouping, "labels">} to */
export function streams(from, to) {
  /** @type {Map<string, { from: number, to: number, n: number }>} */
  const found = new Map();
  for (let i = 0; i < from.labels.length; i++) {
    const key = `${from.labels[i]} ${to.labels[i]}`;
    const one = found.get(key) ?? { from: from.labels[i], to: to.labels[i], n: 0 };
    one.n++;
    found.set(key, one);
  }
  return [...found.values()];
}

// Where the blocks of a column stand, from the top, as high as their groups are large.
/** @param {Pick<Grouping, "groups">} column @param {number} total @param {number} height */
function blocksOf({ groups }, total, height) {
  const room = height - GAP * (groups.length - 1);
  let y = 0;
  return new Map(
    groups.map((group) => {
      const high = (group.size / total) * room;
      const block = { group, y, high, out: y, into: y };
      y += high + GAP;
      return [group.id, block];
    }),
  );
}

/**
 * @param {App} app @param {number[]} cuts numbers of groups; 0 for those of the model
 * @param {(cut: number, id: number) => void} choose
 */
function alluvial(app, cuts, choose) {
  const columns = cuts.map((cut) => app.groupsAt({ cut, step: app.content.chosen }));
  const total = columns[0].labels.length || 1;
  const drawing = makeSvg("svg", {
    class: "alluvial",
    viewBox: `0 -18 ${WIDE} ${HIGH + 20}`,
    role: "img",
    "aria-label": `Documents between ${columns.map(({ groups }) => groups.length).join(", ")} groups`,
  });
  const across = (WIDE - NAME - BLOCK) / (columns.length - 1);
  const placed = columns.map((column) => blocksOf(column, total, HIGH));
  columns.forEach((column, c) => {
    if (c === 0) return;
    const room = (/** @type {number} */ at) => HIGH - GAP * (columns[at].groups.length - 1);
    const order = (/** @type {number} */ at, /** @type {number} */ id) =>
      columns[at].groups.findIndex((group) => group.id === id);
    const all = streams(columns[c - 1], column).sort(
      (a, b) => order(c - 1, a.from) - order(c - 1, b.from) || order(c, a.to) - order(c, b.to),
    );
    for (const one of all) {
      const from = placed[c - 1].get(one.from);
      const to = placed[c].get(one.to);
      if (!from || !to) continue;
      const left = (one.n / total) * room(c - 1);
      const right = (one.n / total) * room(c);
      const path = makeSvg("path", {
        d: ribbon(across * (c - 1) + BLOCK, from.out, left, across * c, to.into, right),
      });
      path.style.fill = seenColour(to.group.colour);
      path.append(
        makeSvg("title", {
          text: `${counted(one.n, "document")}: ${from.group.name()} – ${to.group.name()}`,
        }),
      );
      from.out += left;
      to.into += right;
      drawing.append(path);
    }
  });
  placed.forEach((blocks, c) => drawing.append(...columnParts(blocks, c, cuts[c], across, choose)));
  return make("div", { class: "wide" }, drawing);
}

/**
 * @param {number} x @param {number} y @param {number} high @param {number} x2 @param {number} y2
 * @param {number} high2
 */
function ribbon(x, y, high, x2, y2, high2) {
  const middle = (x + x2) / 2;
  const [a, b, c, d] = [y, y + high, y2, y2 + high2].map((value) => value.toFixed(1));
  return `M${x},${a}C${middle},${a} ${middle},${c} ${x2},${c}L${x2},${d}C${middle},${d} ${middle},${b} ${x},${b}Z`;
}

/**
 * @param {ReturnType<typeof blocksOf>} blocks @param {number} c @param {number} cut
 * @param {number} across @param {(cut: number, id: number) => void} choose
 */
function columnParts(blocks, c, cut, across, choose) {
  const x = across * c;
  const head = makeSvg("text", { x, y: -6, class: "head", text: counted(blocks.size, "group") });
  const parts = [...blocks.values()].flatMap(({ group, y, high }) => {
    const block = makeSvg("rect", { x, y, width: BLOCK, height: Math.max(1, high) });
    block.style.fill = seenColour(group.colour);
    block.addEventListener("click", () => choose(cut, group.id));
    block.append(makeSvg("title", { text: `${group.name()}: ${integer(group.size)}` }));
    if (high < 9) return [block];
    const name = group.name().split(" ").slice(0, 2).join(" ");
    const text = makeSvg("text", { x: x + BLOCK + 4, y: y + high / 2 + 4, text: name });
    text.addEventListener("click", () => choose(cut, group.id));
    return [block, text];
  });
  return [head, ...parts];
}
