// Numbers over time as areas: every period is seen, however many there are.

import { makeSvg } from "./dom.js";

// A step for each period, from the ground up.
/** @param {number[]} values @param {number} width @param {number} height @param {number} top */
export function stepsPath(values, width, height, top) {
  const wide = width / values.length;
  let path = `M0,${height}`;
  values.forEach((value, i) => {
    const y = (height * (1 - value / (top || 1))).toFixed(2);
    path += `L${(i * wide).toFixed(2)},${y}L${((i + 1) * wide).toFixed(2)},${y}`;
  });
  return `${path}L${width},${height}Z`;
}

// More periods than pixels: each pixel shows the largest of its periods, so that none is lost.
/** @param {number[]} values @param {number} most */
export function largestOf(values, most) {
  if (values.length <= most) return values;
  return Array.from({ length: most }, (_, i) => {
    const from = Math.floor((i * values.length) / most);
    const to = Math.max(from + 1, Math.floor(((i + 1) * values.length) / most));
    return Math.max(...values.slice(from, to));
  });
}

// The mean of each value with its neighbours on both sides, as many as there are.
/** @param {number[]} values @param {number} reach */
export function smoothed(values, reach) {
  if (!reach) return values;
  return values.map((_, i) => {
    const near = values.slice(Math.max(0, i - reach), i + reach + 1);
    return near.reduce((sum, value) => sum + value, 0) / near.length;
  });
}

const WIDE = 64;
const HIGH = 16;

/** @param {number[]} values */
export function sparkline(values) {
  const seen = largestOf(values, WIDE);
  return makeSvg(
    "svg",
    { class: "spark", viewBox: `0 0 ${WIDE} ${HIGH}`, "aria-hidden": "true" },
    makeSvg("path", { d: stepsPath(seen, WIDE, HIGH, Math.max(...seen)) }),
  );
}
