// Names on the map of documents: near their documents, none covers another, large groups first.

import { firstParts } from "../lib/format.js";
import { toScreen } from "./view.js";

/** @import { Context, MapLabel, MapView, PlacedLabel } from "../types.d.ts" */

const NEAR = 4500; // of the 65,535 of the map: what counts as near
const STEPS = 12;
const ENOUGH = 300; // documents of a group from which its place is known
const IN_VIEW = 0.2; // of a group: from there on it is named although its middle is out of sight
const GAP = 3; // pixels around a name
const EDGE = 9; // pixels between a name and the edge of the map
const FINER = 11; // pixels of the letters of parts of groups
// Where there is no room, lines up or down and shares of the width to the sides, the nearest first.
const SHIFTS = shifts([0, -1, 1, -2, 2, -3, 3], [0, -0.4, 0.4]);
// Where there is none either: smaller letters, farther away.
const FARTHER = shifts([0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5, -6, 6], [0, -0.4, 0.4, -0.8, 0.8]);
const SMALLER = 0.82;
const SMALLEST = 9.5; // pixels
const WHOLE = 2; // lines that a whole name may be away: a shorter one is better than a distant one

/** @param {number[]} lines @param {number[]} sides */
function shifts(lines, sides) {
  return lines.flatMap((line) => sides.map((side) => ({ line, side })));
}

/**
 * Return where a name is written: among these documents, where they are dense.
 * @param {{ x: ArrayLike<number>, y: ArrayLike<number> }} layout
 * @param {ArrayLike<number>} ids of the documents @param {string} text @returns {MapLabel | null}
 */
export function labelOf({ x, y }, ids, text) {
  if (!ids.length) return null;
  const every = Math.ceil(ids.length / ENOUGH);
  const some = Array.from({ length: Math.ceil(ids.length / every) }, (_, i) => ids[i * every]);
  const xs = some.map((i) => x[i]);
  const ys = some.map((i) => y[i]);
  return { ...densest(xs, ys), text, weight: ids.length, spots: { xs, ys } };
}

/**
 * Return where the name of each group is written.
 * @param {{ x: ArrayLike<number>, y: ArrayLike<number> }} layout
 * @param {ArrayLike<number>} groups of the documents, -1: none
 * @param {string[]} names of the groups
 * @returns {(MapLabel & { at: number })[]} with the number of the group
 */
export function groupLabels(layout, groups, names) {
  return membersOf(groups, names.length).flatMap((ids, at) => {
    const label = labelOf(layout, ids, names[at]);
    return label ? [{ ...label, at }] : [];
  });
}

/** Return the documents of each group. @param {ArrayLike<number>} groups @param {number} n */
export function membersOf(groups, n) {
  /** @type {number[][]} */
  const members = Array.from({ length: n }, () => []);
  for (let i = 0; i < groups.length; i++) members[groups[i]]?.push(i);
  return members;
}

// Return, from the median on, some steps to the mean of what is near: a group in two parts has its
// name at the larger one.
/** @param {number[]} xs @param {number[]} ys */
function densest(xs, ys) {
  let x = xs.toSorted((one, other) => one - other)[xs.length >> 1];
  let y = ys.toSorted((one, other) => one - other)[ys.length >> 1];
  for (let step = 0; step < STEPS; step++) {
    let sum = 0;
    let right = 0;
    let up = 0;
    for (let i = 0; i < xs.length; i++) {
      const weight = Math.exp(-((xs[i] - x) ** 2 + (ys[i] - y) ** 2) / (2 * NEAR * NEAR));
      sum += weight;
      right += weight * xs[i];
      up += weight * ys[i];
    }
    if (sum < 1e-9) break;
    x = right / sum;
    y = up / sum;
  }
  return { x, y };
}

// Return the pixel that a name belongs to; null where too little of the group is in sight. Where
// its middle is out of sight, it is the document nearest to the middle of those in sight.
/** @param {MapLabel} label @param {MapView} view @returns {[number, number] | null} */
function anchorOf(label, view) {
  const middle = toScreen(view, label.x / 65535, label.y / 65535);
  if (isSeen(middle, view)) return middle;
  const seen = spotsIn(label, view);
  if (seen.length < 2 || seen.length < IN_VIEW * (label.spots?.xs.length ?? 0)) return null;
  return nearest(
    seen,
    [0, 1].map((d) => seen.reduce((sum, one) => sum + one[d], 0) / seen.length),
  );
}

/** @param {[number, number]} place @param {MapView} view */
function isSeen([left, top], { width, height }) {
  return left >= 0 && top >= 0 && left <= width && top <= height;
}

/** Return the pixels of some documents of a group, of those in sight. @param {MapLabel} label @param {MapView} view */
function spotsIn({ spots }, view) {
  return (spots?.xs ?? [])
    .map((one, i) => toScreen(view, one / 65535, (spots?.ys[i] ?? 0) / 65535))
    .filter((one) => isSeen(one, view));
}

/** @param {[number, number][]} places @param {number[]} to */
function nearest(places, [x, y]) {
  const away = (/** @type {[number, number]} */ [left, top]) => Math.hypot(left - x, top - y);
  return places.reduce((best, one) => (away(one) < away(best) ? one : best));
}

// Return the size of the letters of a name: that of the largest group is half as large again as the least.
/** @param {MapLabel} label @param {number} heaviest @param {number} width of the map */
function sizeOf(label, heaviest, width) {
  if (label.from) return FINER;
  const room = Math.max(0.82, Math.min(1, width / 640), Math.min(1.3, width / 800));
  return room * (10.5 + 5.5 * Math.sqrt(label.weight / Math.max(heaviest, 1e-9)));
}

const LONG = 26; // characters: a longer name is cut where that leaves a part of it

/** Return the name where it is short, then its first parts. @param {string} name */
export function shorter(name) {
  const cuts = [2, 1].map((n) => firstParts(name, n)).filter((text) => text !== name);
  const sign = name.includes(" · ") ? "" : " …";
  const texts = [name, ...new Set(cuts.map((text) => `${text}${sign}`))];
  const short = texts.filter((text) => text.length <= LONG);
  return short.length ? short : texts.slice(-1);
}

/**
 * @param {MapLabel[]} labels @param {MapView} view
 * @param {(text: string, size: number) => number} measure gives the width of a text
 * @param {Box[]} taken what no name may cover
 * @returns {PlacedLabel[]}
 */
export function placeLabels(labels, view, measure, taken = []) {
  const heaviest = Math.max(0, ...labels.map((label) => label.weight));
  /** @type {PlacedLabel[]} */
  const placed = [];
  /** @type {Set<number>} */
  const named = new Set();
  // Parts of groups are named once one is near enough, where the names of groups leave room.
  const near = view.scale / view.whole;
  const order = [...labels.keys()].filter(
    (i) => near >= (labels[i].from ?? 0) && near < (labels[i].until ?? Infinity),
  );
  const part = (/** @type {number} */ i) => labels[i].from !== undefined;
  order.sort((one, other) => labels[other].weight - labels[one].weight || one - other);
  for (const i of order.filter((one) => !part(one))) place(i, SHIFTS, 1);
  for (const i of order.filter((one) => !part(one) && !named.has(one))) place(i, FARTHER, SMALLER);
  for (const i of order.filter(part)) place(i, SHIFTS.slice(0, 1), 1);
  return placed;

  /** @param {number} i @param {typeof SHIFTS} tried @param {number} smaller */
  function place(i, tried, smaller) {
    const anchor = anchorOf(labels[i], view);
    const size = Math.max(SMALLEST, smaller * sizeOf(labels[i], heaviest, view.width));
    const found =
      anchor && placeOf(labels[i], tried === FARTHER ? bare(i, anchor) : anchor, size, tried);
    if (!found) return;
    placed.push(found);
    named.add(i);
  }

  /**
   * Return a document of the group that no name covers, so that a line can lead to it.
   * @param {number} i @param {[number, number]} anchor
   */
  function bare(i, anchor) {
    const free = [anchor, ...spotsIn(labels[i], view)].filter(
      ([left, top]) => !placed.some((one) => overlaps({ left, top, width: 0, height: 0 }, one)),
    );
    return free.length ? nearest(free, anchor) : anchor;
  }

  /**
   * @param {MapLabel} label @param {[number, number]} anchor @param {number} size
   * @param {typeof SHIFTS} tried
   */
  function placeOf({ text: name, colour, group, from }, anchor, size, tried) {
    const height = size * 1.25;
    for (const text of from ? [name] : shorter(name)) {
      const width = measure(text, size);
      for (const { line, side } of tried) {
        if (text === name && Math.abs(line) > WHOLE) continue;
        const middle = anchor[0] - width / 2 + side * width;
        const left = Math.min(view.width - width - EDGE, Math.max(EDGE, middle));
        const top = anchor[1] - height / 2 + line * (height + GAP);
        const box = { text, size, left, top, width, height, colour, group, anchor };
        if (top < GAP || top + height > view.height - GAP) continue;
        if (taken.some((other) => overlaps(box, other))) continue;
        if (placed.some((other) => overlaps(box, other) || strikes(box, other))) continue;
        return box;
      }
    }
    return null;
  }
}

/** @typedef {{ left: number, top: number, width: number, height: number }} Box */

/** @param {Box} one @param {Box} other */
function overlaps(one, other) {
  return (
    one.left < other.left + other.width + GAP &&
    other.left < one.left + one.width + GAP &&
    one.top < other.top + other.height + GAP &&
    other.top < one.top + one.height + GAP
  );
}

// Return whether the line of one name goes through the other.
/** @param {PlacedLabel} one @param {PlacedLabel} other */
function strikes(one, other) {
  return crosses(leaderOf(one), other) || crosses(leaderOf(other), one);
}

/** @param {[number, number, number, number] | null} line @param {Box} box */
function crosses(line, box) {
  if (!line) return false;
  const [x0, y0, x1, y1] = line;
  return Array.from({ length: 9 }, (_, i) => i / 8).some((t) => {
    const [x, y] = [x0 + t * (x1 - x0), y0 + t * (y1 - y0)];
    return overlaps({ left: x, top: y, width: 0, height: 0 }, box);
  });
}

// Return the ends of the line from a name that is not on its documents to them.
/** @param {PlacedLabel} label @returns {[number, number, number, number] | null} */
export function leaderOf({ left, top, width, height, anchor: [x, y] }) {
  const right = Math.min(left + width, Math.max(left, x));
  const down = Math.min(top + height, Math.max(top, y));
  return Math.hypot(right - x, down - y) < height ? null : [right, down, x, y];
}

// Return the name at a pixel, if any.
/** @param {PlacedLabel[]} placed @param {number} x @param {number} y */
export function labelAt(placed, x, y) {
  return placed.find(
    ({ left, top, width, height }) =>
      x >= left && x <= left + width && y >= top && y <= top + height,
  );
}

/** @param {number} size */
export function labelFont(size) {
  return `600 ${size.toFixed(1)}px system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif`;
}

/** @param {Context} context @param {PlacedLabel[]} placed @param {string} ink @param {string} ground */
export function drawPlacedLabels(context, placed, ink, ground) {
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  for (const label of placed) {
    const leader = leaderOf(label);
    if (!leader) continue;
    for (const [colour, wide] of /** @type {[string, number][]} */ ([
      [ground, 4],
      [label.colour ?? ink, 1.25],
    ])) {
      context.beginPath();
      context.moveTo(leader[0], leader[1]);
      context.lineTo(leader[2], leader[3]);
      context.strokeStyle = colour;
      context.lineWidth = wide;
      context.stroke();
    }
  }
  for (const label of placed) {
    const { text, size, left, top, height } = label;
    context.font = labelFont(size);
    context.strokeStyle = ground;
    context.lineWidth = size / 2.4;
    context.globalAlpha = 0.92;
    context.strokeText(text, left, top + height / 2);
    context.globalAlpha = 1;
    context.fillStyle = label.colour ?? ink;
    context.fillText(text, left, top + height / 2);
  }
}
