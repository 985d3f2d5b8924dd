// Names on the map of documents: none covers another, and those of large groups come first.

import { toScreen } from "./document_map_view.js";

/** @import { Context, MapLabel, MapView, PlacedLabel } from "./types.d.ts" */

const NEAR = 4500; // of the 65,535 of the map: what counts as near
const STEPS = 12;
const GAP = 3; // pixels around a name
const SHIFTS = [0, -1, 1, -2, 2, -3, 3]; // lines up or down, until there is room

// Where the name of each group is written: among its documents, where they are dense.
/**
 * @param {{ x: ArrayLike<number>, y: ArrayLike<number> }} layout
 * @param {ArrayLike<number>} groups of the documents, -1: none
 * @param {string[]} names of the groups @returns {MapLabel[]}
 */
export function groupLabels({ x, y }, groups, names) {
  /** @type {number[][]} */
  const members = names.map(() => []);
  for (let i = 0; i < groups.length; i++) members[groups[i]]?.push(i);
  return members.flatMap((ids, group) => {
    if (!ids.length) return [];
    const place = densest(
      ids.map((i) => x[i]),
      ids.map((i) => y[i]),
    );
    return [{ ...place, text: names[group], weight: ids.length, group }];
  });
}

// From the median on, some steps to the mean of what is near: a group in two parts has its name at
// the larger one.
/** @param {number[]} xs @param {number[]} ys */
function densest(xs, ys) {
  const every = Math.ceil(xs.length / 2000); // enough of them to know
  let x = xs.toSorted((one, other) => one - other)[xs.length >> 1];
  let y = ys.toSorted((one, other) => one - other)[ys.length >> 1];
  for (let step = 0; step < STEPS; step++) {
    let sum = 0;
    let right = 0;
    let up = 0;
    for (let i = 0; i < xs.length; i += every) {
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

/** @param {MapLabel} label @param {number} heaviest */
function sizeOf(label, heaviest) {
  return 11.5 + 4.5 * Math.sqrt(label.weight / Math.max(heaviest, 1e-9));
}

/**
 * @param {MapLabel[]} labels @param {MapView} view
 * @param {(text: string, size: number) => number} measure gives the width of a text
 * @returns {PlacedLabel[]}
 */
export function placeLabels(labels, view, measure) {
  const heaviest = Math.max(0, ...labels.map((label) => label.weight));
  /** @type {PlacedLabel[]} */
  const placed = [];
  const order = labels.map((_, i) => i);
  order.sort((one, other) => labels[other].weight - labels[one].weight || one - other);
  for (const i of order) {
    const label = labels[i];
    const size = sizeOf(label, heaviest);
    const width = measure(label.text, size);
    const height = size * 1.25;
    const [centre, middle] = toScreen(view, label.x / 65535, label.y / 65535);
    if (centre < 0 || middle < 0 || centre > view.width || middle > view.height) continue;
    const left = Math.min(view.width - width - GAP, Math.max(GAP, centre - width / 2));
    for (const shift of SHIFTS) {
      const top = middle - height / 2 + shift * (height + GAP);
      const box = { text: label.text, size, left, top, width, height };
      if (top < GAP || top + height > view.height - GAP) continue;
      if (placed.some((other) => overlaps(box, other))) continue;
      placed.push(box);
      break;
    }
  }
  return placed;
}

/** @param {PlacedLabel} one @param {PlacedLabel} other */
function overlaps(one, other) {
  return (
    one.left < other.left + other.width + GAP &&
    other.left < one.left + one.width + GAP &&
    one.top < other.top + other.height + GAP &&
    other.top < one.top + one.height + GAP
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
  for (const { text, size, left, top, height } of placed) {
    context.font = labelFont(size);
    context.strokeStyle = ground;
    context.lineWidth = size / 3;
    context.globalAlpha = 0.88;
    context.strokeText(text, left, top + height / 2);
    context.globalAlpha = 1;
    context.fillStyle = ink;
    context.fillText(text, left, top + height / 2);
  }
}
