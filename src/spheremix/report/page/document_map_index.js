// Which documents are near a place of the map, or inside a line around some: by a grid of cells.

import { toMap } from "./document_map_view.js";

/** @import { MapView, PointIndex, Points } from "./types.d.ts" */

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

// The point nearest to a pixel, -1 where none is near.
/**
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
    const right = (points.x[i] - x) * view.scale * view.stretch;
    const up = (points.y[i] - y) * view.scale;
    const distance = right * right + up * up;
    if (distance <= least && counts(i)) {
      least = distance;
      best = i;
    }
  });
  return best;
}

// The points inside a closed line, given by its corners on the map.
/**
 * @param {PointIndex} index @param {Points} points @param {[number, number][]} line
 * @param {(id: number) => boolean} counts
 */
export function pointsInside(index, points, line, counts) {
  /** @type {number[]} */
  const found = [];
  if (line.length < 3) return Uint32Array.from(found);
  const xs = line.map(([x]) => x);
  const ys = line.map(([, y]) => y);
  const add = (/** @type {number} */ i) => {
    if (counts(i) && isInside(line, points.x[i], points.y[i])) found.push(i);
  };
  index.within(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys), add);
  return Uint32Array.from(found).sort();
}

// A ray from the point crosses the line an odd number of times.
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
