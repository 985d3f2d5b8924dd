// Where the words stand on the screen: columns of one width, those of nobody narrower if many.

/** @import { Columns, Row, Step, StepEntry, Zoom } from "./types.d.ts" */

const NOBODY = 0.12; // of the width, at most, for the words that no cluster has

/**
 * @param {Pick<Step, "active" | "W">} step @param {Zoom} zoom @param {number} left
 * @param {number} width
 * @returns {Columns}
 */
export function createColumns(step, zoom, left, width) {
  const { active, W } = step;
  const idle = W - active;
  const narrow =
    active === 0 ? 1 : Math.min(1, (NOBODY / (1 - NOBODY)) * (active / Math.max(1, idle)));
  const total = active + narrow * idle;
  const unit = width / (total * (zoom[1] - zoom[0])); // pixels of a column
  const origin = left - zoom[0] * total * unit;
  // From a place in the order (not always whole) to pixels, and back.
  const x = (/** @type {number} */ place) =>
    origin + unit * (place <= active ? place : active + narrow * (place - active));
  const placeAt = (/** @type {number} */ pixels) => {
    const units = (pixels - origin) / unit;
    return units <= active ? units : active + (units - active) / narrow;
  };
  return {
    x,
    place: placeAt,
    unit,
    left,
    right: left + width,
    share: (at) => (x(at) - origin) / (total * unit),
  };
}

// A part of the map, of at least some columns, kept within it.
/** @param {number} from @param {number} to @param {Pick<Step, "W">} step @returns {Zoom} */
export function zoomTo(from, to, step) {
  const least = Math.min(1, 12 / step.W);
  const span = Math.min(1, Math.max(least, to - from));
  const start = Math.min(1 - span, Math.max(0, (from + to - span) / 2));
  return [Number(start.toFixed(6)), Number((start + span).toFixed(6))];
}

/**
 * @param {Zoom} zoom @param {number} factor @param {number} centre @param {Pick<Step, "W">} step
 */
export function zoomBy(zoom, factor, centre, step) {
  const span = Math.min(1, (zoom[1] - zoom[0]) / factor);
  const share = zoom[0] + centre * (zoom[1] - zoom[0]);
  const from = Math.min(1 - span, Math.max(0, share - centre * span));
  return zoomTo(from, from + span, step);
}

/** @param {Zoom} zoom @param {number} share @returns {Zoom} */
export function panBy(zoom, share) {
  const span = zoom[1] - zoom[0];
  const from = Math.min(1 - span, Math.max(0, zoom[0] + share * span));
  return [Number(from.toFixed(6)), Number((from + span).toFixed(6))];
}

// Rows as high as their clusters are large, the small ones still seen.
/**
 * @param {{ clusters: number[], entry: Pick<StepEntry, "sizes"> }} step @param {number} top
 * @param {number} height
 */
export function createRows(step, top, height) {
  const sizes = step.clusters.map((k) => Math.max(0, step.entry.sizes[k]));
  const total = sizes.reduce((sum, size) => sum + size, 0) || 1;
  const least = Math.min(14, (0.7 * height) / sizes.length);
  const heights = fairHeights(
    sizes.map((size) => (size / total) * height),
    least,
    height,
  );
  /** @type {Row[]} */
  const rows = [];
  let y = top;
  step.clusters.forEach((k, i) => {
    rows.push({ k, y, height: heights[i] });
    y += heights[i];
  });
  return rows;
}

// Rows below the least height get it, the others give in proportion.
/** @param {number[]} wanted @param {number} least @param {number} height */
function fairHeights(wanted, least, height) {
  let heights = wanted;
  for (let round = 0; round < 8; round++) {
    const small = heights.map((h) => h < least + 1e-9);
    const given = small.filter(Boolean).length * least;
    const rest = heights.reduce((sum, h, i) => sum + (small[i] ? 0 : h), 0);
    const factor = rest > 0 ? (height - given) / rest : 1;
    heights = heights.map((h, i) => (small[i] ? least : h * factor));
    if (heights.every((h) => h >= least - 1e-9)) break;
  }
  return heights;
}
