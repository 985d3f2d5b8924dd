// Where the documents of a group are dense: lines around half of them and around most of them.

import { membersOf } from "./labels.js";

/** @import { Context, Contour, MapLabel, MapLayout, MapView } from "../types.d.ts" */

const SIDE = 160; // cells along the map
const KERNEL = 3.5; // cells of one standard deviation: what is seen as near
// Of the documents of a group, the outer line first; and of the highest density, where a line is at the latest:
// documents in one place have lines around them, too.
const AROUND = [
  { share: 0.88, latest: 0.4 },
  { share: 0.5, latest: 0.75 },
];
// A line holds some documents: less than a few, and less than this share, is no island of a group.
const FEW = 2.5;
const ISLAND = 0.004;

// The lines that were asked for last, by the first document of their group: with one group more or less,
// most groups stay as they are.
/** @type {WeakMap<MapLayout, Map<number, { ids: number[], contour: Contour }>>} */
const lately = new WeakMap();

/**
 * Return the lines of each group, the outer ones first; none of a group with a few documents.
 * @param {MapLayout} layout @param {ArrayLike<number>} groups of the documents, -1: none
 * @param {number} n how many groups @returns {Contour[]}
 */
export function groupContours(layout, groups, n) {
  const before = lately.get(layout);
  const now = new Map();
  lately.set(layout, now);
  return membersOf(groups, n).map((ids) => {
    if (ids.length < FEW) return [];
    const known = before?.get(ids[0]);
    const stays = known?.ids.length === ids.length && known.ids.every((id, k) => id === ids[k]);
    const own = known && stays ? known : { ids, contour: levelLines(layout, ids) };
    now.set(ids[0], own);
    return own.contour;
  });
}

/** @param {MapLayout} layout @param {number[]} ids @returns {Contour} */
function levelLines({ x, y }, ids) {
  const cell = (/** @type {number} */ value) => Math.floor((value * SIDE) / 65536);
  const reach = Math.ceil(3 * KERNEL) + 1;
  const columns = ends(ids, x, cell);
  const rows = ends(ids, y, cell);
  const width = columns[1] - columns[0] + 1 + 2 * reach;
  const height = rows[1] - rows[0] + 1 + 2 * reach;
  const counts = new Float32Array(width * height);
  const at = (/** @type {number} */ i) =>
    (cell(y[i]) - rows[0] + reach) * width + cell(x[i]) - columns[0] + reach;
  for (const i of ids) counts[at(i)]++;
  const density = smoothed(counts, width);
  // As seen by the documents themselves: so many of them lie where it is at least that dense.
  const own = Float32Array.from(ids, (i) => density[at(i)]).sort();
  const least = Math.max(FEW, ISLAND * ids.length) / (2 * Math.PI * KERNEL * KERNEL);
  const most = own[own.length - 1];
  return AROUND.map(({ share, latest }) => {
    const asked = own[Math.floor((1 - share) * own.length)];
    const level = Math.max(least, Math.min(0.999 * asked, latest * most));
    return trace(density, width, height, level).map((ring) =>
      ring.map((value, k) => (value + (k % 2 ? rows : columns)[0] - reach + 0.5) / SIDE),
    );
  });
}

/**
 * @param {number[]} ids @param {ArrayLike<number>} values @param {(value: number) => number} cell
 * @returns {[number, number]}
 */
function ends(ids, values, cell) {
  let low = Infinity;
  let high = -Infinity;
  for (const i of ids) {
    low = Math.min(low, cell(values[i]));
    high = Math.max(high, cell(values[i]));
  }
  return [low, high];
}

// Return the sum of bells around the counts, which sums to as much; first along rows. No count is so near
// to an edge that a bell would leave the field.
/** @param {Float32Array} counts @param {number} width */
function smoothed(counts, width) {
  const reach = Math.ceil(3 * KERNEL);
  const bell = Float32Array.from({ length: 2 * reach + 1 }, (_, i) =>
    Math.exp(-((i - reach) ** 2) / (2 * KERNEL * KERNEL)),
  );
  const sum = bell.reduce((all, one) => all + one, 0);
  for (let i = 0; i < bell.length; i++) bell[i] /= sum;
  let from = counts;
  for (const step of [1, width]) {
    const to = new Float32Array(counts.length);
    for (let i = 0; i < from.length; i++) {
      if (!from[i]) continue;
      for (let k = -reach; k <= reach; k++) to[i + k * step] += from[i] * bell[k + reach];
    }
    from = to;
  }
  return from;
}

// By the corners of a cell that are inside (1: left top, 2: right top, 4: right bottom, 8: left bottom)
// the lines through it, from side to side (0: top, 1: right, 2: bottom, 3: left), the inside at their left.
const LINES = [
  [],
  [3, 0],
  [0, 1],
  [3, 1],
  [1, 2],
  [3, 0, 1, 2],
  [0, 2],
  [3, 2],
  [2, 3],
  [2, 0],
  [0, 1, 2, 3],
  [2, 1],
  [1, 3],
  [1, 0],
  [0, 3],
  [],
];

/**
 * Return the closed lines at which values reach a level, each as x, y, x, y ... in cells. Values at the edge
 * are below the level.
 * @param {Float32Array} values @param {number} width @param {number} height @param {number} level
 * @returns {number[][]}
 */
export function trace(values, width, height, level) {
  // A side of cells, as twice the place of its first corner, and 1 more where it goes down.
  /** @type {Map<number, number>} */
  const next = new Map();
  for (let row = 0; row + 1 < height; row++) {
    for (let column = 0; column + 1 < width; column++) {
      const i = row * width + column;
      const inside =
        Number(values[i] >= level) +
        2 * Number(values[i + 1] >= level) +
        4 * Number(values[i + width + 1] >= level) +
        8 * Number(values[i + width] >= level);
      const lines = LINES[inside];
      if (!lines.length) continue;
      const sides = [2 * i, 2 * (i + 1) + 1, 2 * (i + width), 2 * i + 1];
      for (let k = 0; k < lines.length; k += 2) next.set(sides[lines[k]], sides[lines[k + 1]]);
    }
  }
  const rings = [];
  for (const start of next.keys()) {
    if (!next.has(start)) continue;
    /** @type {number[]} */
    const ring = [];
    let side = start;
    for (;;) {
      const to = next.get(side);
      if (to === undefined) break;
      next.delete(side);
      ring.push(...crossing(values, width, side, level));
      side = to;
    }
    rings.push(ring);
  }
  return rings;
}

/** @param {Float32Array} values @param {number} width @param {number} side @param {number} level */
function crossing(values, width, side, level) {
  const i = side >> 1;
  const down = side % 2;
  const to = values[i + (down ? width : 1)];
  const share = (level - values[i]) / (to - values[i] || 1);
  const column = i % width;
  const row = Math.floor(i / width);
  return down ? [column, row + share] : [column + share, row];
}

/** @typedef {{ moveTo: (x: number, y: number) => void, closePath: () => void,
 *   quadraticCurveTo: (cx: number, cy: number, x: number, y: number) => void }} Path */

// Add a closed line to a path, its corners rounded.
/**
 * @param {Path} path @param {number[]} ring
 * @param {(x: number, y: number) => [number, number]} place from the map to the path
 */
export function addRing(path, ring, place = (x, y) => [x, y]) {
  const n = ring.length / 2;
  const corner = (/** @type {number} */ i) => place(ring[2 * (i % n)], ring[2 * (i % n) + 1]);
  const middle = (/** @type {number} */ i) => {
    const [from, to] = [corner(i), corner(i + 1)];
    return /** @type {[number, number]} */ ([(from[0] + to[0]) / 2, (from[1] + to[1]) / 2]);
  };
  path.moveTo(...middle(0));
  for (let i = 1; i <= n; i++) path.quadraticCurveTo(...corner(i), ...middle(i));
  path.closePath();
}

// How much of the colour areas and lines have: of a group that is chosen, of any when none is, of another.
const AREA = { strong: 0.17, plain: 0.11, weak: 0.035 };
const EDGE = { strong: 0.95, plain: 0.42, weak: 0.14 };

/**
 * Return whether a group stands out, or others do.
 * @param {MapLabel} label @param {ReadonlySet<number> | null} chosen groups @returns {keyof AREA}
 */
export function strengthOf({ group }, chosen) {
  if (!chosen) return "plain";
  return group !== undefined && chosen.has(group) ? "strong" : "weak";
}

/** @type {WeakMap<Contour, Path2D[]>} */
const paths = new WeakMap();

/** @param {Contour} contour */
function pathsOf(contour) {
  const known = paths.get(contour);
  if (known) return known;
  const made = contour.map((rings) => {
    const path = new Path2D();
    for (const ring of rings) addRing(path, ring);
    return path;
  });
  paths.set(contour, made);
  return made;
}

/**
 * @param {Context} context @param {MapLabel[]} labels @param {MapView} view @param {number} ratio
 * @param {ReadonlySet<number> | null} chosen groups @param {string} ink of groups without a colour
 */
export function drawContours(context, labels, view, ratio, chosen, ink) {
  const scale = view.scale * ratio;
  const left = (view.width / 2) * ratio - view.x * scale;
  const top = (view.height / 2) * ratio + view.y * scale;
  context.save();
  context.setTransform(scale, 0, 0, -scale, left, top);
  for (const label of labels) {
    const strength = strengthOf(label, chosen);
    context.fillStyle = label.colour ?? ink;
    context.strokeStyle = label.colour ?? ink;
    context.lineWidth = (strength === "strong" ? 1.5 : 1) / view.scale;
    for (const path of pathsOf(label.contour ?? [])) {
      context.globalAlpha = AREA[strength];
      context.fill(path, "evenodd");
      context.globalAlpha = EDGE[strength];
      context.stroke(path);
    }
  }
  context.restore();
}

/**
 * Return the areas and lines of a drawing, as the attributes of its paths.
 * @param {MapLabel[]} labels @param {(x: number, y: number) => [number, number]} place
 * @param {ReadonlySet<number> | null} chosen groups @param {string} ink
 */
export function contourShapes(labels, place, chosen, ink) {
  return labels.flatMap((label) =>
    (label.contour ?? []).map((rings) => {
      const strength = strengthOf(label, chosen);
      /** @type {string[]} */
      const steps = [];
      const write =
        (/** @type {string} */ step) =>
        (/** @type {number[]} */ ...places) =>
          void steps.push(step + places.map((one) => one.toFixed(1)).join(" "));
      const path = { moveTo: write("M"), quadraticCurveTo: write("Q"), closePath: write("Z") };
      for (const ring of rings) addRing(path, ring, place);
      const colour = label.colour ?? ink;
      return {
        class: "contour",
        d: steps.join(""),
        fill: colour,
        "fill-opacity": AREA[strength],
        "fill-rule": "evenodd",
        stroke: colour,
        "stroke-opacity": EDGE[strength],
      };
    }),
  );
}
