// Which part of the map of documents is seen, from positions to pixels and back; and which documents are
// near a place.

import { ends } from "../lib/colours.js";

/** @import { MapView, PointIndex, Points } from "../types.d.ts" */

const MARGIN = 28; // pixels around all documents
const CLOSEST = 60; // times nearer than all documents

// Return points of the content: integers up to 65,535, y from bottom to top.
/** @param {ArrayLike<number>} x @param {ArrayLike<number>} y @returns {Points} */
export function createPoints(x, y) {
  const n = x.length;
  const places = { n, x: new Float32Array(n), y: new Float32Array(n) };
  for (let i = 0; i < n; i++) {
    places.x[i] = x[i] / 65535;
    places.y[i] = y[i] / 65535;
  }
  return places;
}

// Return the view that shows all points; a step is as long up as it is across.
/** @param {Points} points @param {number} width @param {number} height @returns {MapView} */
export function wholeView(points, width, height) {
  const [left, right] = ends(points.x);
  const [bottom, top] = ends(points.y);
  const wide = Math.max(1, width - 2 * MARGIN) / Math.max(right - left, 1e-3);
  const high = Math.max(1, height - 2 * MARGIN) / Math.max(top - bottom, 1e-3);
  const scale = Math.min(high, wide);
  const centre = { x: (left + right) / 2, y: (bottom + top) / 2 };
  return { ...centre, scale, whole: scale, width, height };
}

// Return what part of the map is seen, as the address has it: its middle, and how near; "": all of it.
/** @param {MapView} view @param {MapView} whole */
export function viewText(view, whole) {
  const near = view.scale / whole.scale;
  if (Math.abs(near - 1) < 0.01 && Math.hypot(view.x - whole.x, view.y - whole.y) < 0.002)
    return "";
  return `${view.x.toFixed(4)},${view.y.toFixed(4)},${near.toFixed(2)}`;
}

/** Return the view of such a text. @param {string} text @param {MapView} whole @returns {MapView} */
export function viewOf(text, whole) {
  if (!text) return whole;
  const [x, y, near] = text.split(",").map(Number);
  return { ...whole, x, y, scale: whole.scale * Math.min(CLOSEST, Math.max(0.5, near)) };
}

// Return the same part of the map on a canvas of another size.
/** @param {MapView} view @param {MapView} whole @returns {MapView} */
export function resizedView(view, whole) {
  return { ...whole, x: view.x, y: view.y, scale: (view.scale / view.whole) * whole.whole };
}

/** @param {MapView} view @param {number} x @param {number} y @returns {[number, number]} */
export function toScreen(view, x, y) {
  return [(x - view.x) * view.scale + view.width / 2, (view.y - y) * view.scale + view.height / 2];
}

/** @param {MapView} view @param {number} left @param {number} top @returns {[number, number]} */
export function toMap(view, left, top) {
  return [
    (left - view.width / 2) / view.scale + view.x,
    view.y - (top - view.height / 2) / view.scale,
  ];
}

/** @param {MapView} view @param {number} right @param {number} down @returns {MapView} */
export function movedView(view, right, down) {
  const x = view.x - right / view.scale;
  const y = view.y + down / view.scale;
  return { ...view, x: Math.min(1.2, Math.max(-0.2, x)), y: Math.min(1.2, Math.max(-0.2, y)) };
}

/**
 * Return the view nearer or farther: what is under the given pixel stays there.
 * @param {MapView} view @param {number} factor @param {number} left @param {number} top
 * @returns {MapView}
 */
export function zoomedView(view, factor, left = view.width / 2, top = view.height / 2) {
  const nearest = view.whole * CLOSEST;
  const scale = Math.min(nearest, Math.max(view.whole * 0.5, view.scale * factor));
  const [x, y] = toMap(view, left, top);
  const near = { ...view, scale };
  const [stands, falls] = toScreen(near, x, y);
  return movedView(near, left - stands, top - falls);
}

// Return the radius of a point in pixels: it grows more slowly than distances do.
/** @param {MapView} view @param {number} n */
export function pointRadius(view, n) {
  const room = Math.sqrt((view.width * view.height) / Math.max(n, 1));
  const seen = Math.min(3, Math.max(1.15, 0.17 * room));
  return Math.min(8, seen * Math.max(1, view.scale / view.whole) ** 0.4);
}

// Which documents are near a place of the map, or inside a line around some: by a grid of cells.

const PER_CELL = 4; // points, where they were spread evenly

/** @param {Points} points @returns {PointIndex} */
export function createIndex({ n, x, y }) {
  const side = Math.max(1, Math.floor(Math.sqrt(n / PER_CELL)));
  const column = (/** @type {number} */ value) =>
    Math.min(side - 1, Math.max(0, Math.floor(value * side)));
  const starts = new Uint32Array(side * side + 1);
  for (let i = 0; i < n; i++) starts[column(y[i]) * side + column(x[i]) + 1]++;
  for (let cell = 0; cell < side * side; cell++) starts[cell + 1] += starts[cell];
  const next = starts.slice();
  const ids = new Uint32Array(n);
  for (let i = 0; i < n; i++) ids[next[column(y[i]) * side + column(x[i])]++] = i;

  /** @type {PointIndex["within"]} */
  const within = (left, bottom, right, top, visit) => {
    for (let row = column(bottom); row <= column(top); row++) {
      const first = row * side;
      const to = starts[first + column(right) + 1];
      for (let place = starts[first + column(left)]; place < to; place++) {
        const i = ids[place];
        if (x[i] >= left && x[i] <= right && y[i] >= bottom && y[i] <= top) visit(i);
      }
    }
  };
  return { within, order: ids };
}

/**
 * Return the point nearest to a pixel, -1 where none is near.
 * @param {PointIndex} index @param {Points} points @param {MapView} view
 * @param {[number, number]} pixel @param {number} reach @param {(id: number) => boolean} counts
 */
export function nearestPoint(index, points, view, [left, top], reach, counts) {
  const [west, south] = toMap(view, left - reach, top + reach);
  const [east, north] = toMap(view, left + reach, top - reach);
  const [x, y] = toMap(view, left, top);
  let best = -1;
  let least = reach * reach;
  index.within(west, south, east, north, (i) => {
    const right = (points.x[i] - x) * view.scale;
    const up = (points.y[i] - y) * view.scale;
    const distance = right * right + up * up;
    if (distance <= least && counts(i)) {
      least = distance;
      best = i;
    }
  });
  return best;
}

/**
 * Return for each point of a layout whether it is inside a closed line, given by its corners.
 * @param {[number, number][]} line @param {{ x: ArrayLike<number>, y: ArrayLike<number> }} layout
 */
export function pointsInside(line, { x, y }) {
  const inside = new Uint8Array(x.length);
  for (let i = 0; i < x.length; i++) if (isInside(line, x[i] / 65535, y[i] / 65535)) inside[i] = 1;
  return inside;
}

// Return whether a ray from the point crosses the line an odd number of times.
/** @param {[number, number][]} line @param {number} x @param {number} y */
function isInside(line, x, y) {
  let inside = false;
  for (let i = 0, j = line.length - 1; i < line.length; j = i++) {
    const [x1, y1] = line[i];
    const [x2, y2] = line[j];
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
  }
  return inside;
}
