// Thin lines: several curves in one small drawing, each on its own scale.

import { makeSvg } from "./dom.js";

/** @import { Curve } from "./types.d.ts" */

// Points of one curve; where there is no value, the line has a gap. A criterion may end far above
// where it began: what is higher than its first value and three quarters of all is cut off.
/**
 * @param {number[]} xs @param {(number | null)[]} ys @param {number} width @param {number} height
 * @param {boolean | undefined} cut
 */
export function linePath(xs, ys, width, height, cut) {
  const known = ys.filter((y) => y !== null).filter(Number.isFinite);
  if (!known.length) return "";
  const sorted = known.toSorted((a, b) => a - b);
  const low = sorted[0];
  const upper = cut ? Math.floor(0.75 * sorted.length) : sorted.length - 1;
  const high = cut ? Math.max(known[0], sorted[upper]) : sorted[upper];
  const span = high - low || 1;
  let path = "";
  let pen = "M";
  ys.forEach((y, i) => {
    if (y === null || !Number.isFinite(y)) {
      pen = "M";
      return;
    }
    const down = (1 - (y - low) / span) * height;
    path += `${pen}${(xs[i] * width).toFixed(1)},${down.toFixed(1)}`;
    pen = "L";
  });
  return path;
}

/**
 * @param {Curve[]} curves @param {number[]} xs @param {number} width @param {number} height
 * @param {string} label
 */
export function drawCurves(curves, xs, width, height, label) {
  const drawing = makeSvg("svg", {
    class: "curves",
    role: "img",
    "aria-label": label,
    preserveAspectRatio: "none",
    viewBox: `0 -3 ${width} ${height + 6}`,
  });
  for (const { name, values, cut } of curves) {
    const d = linePath(xs, values, width, height, cut);
    drawing.append(makeSvg("path", { class: `curve ${name}`, d }));
  }
  return drawing;
}

// Legend: the same strokes as in the drawing.
/** @param {string} name */
export function strokeSample(name) {
  return makeSvg(
    "svg",
    { class: "sample", viewBox: "0 0 22 8", "aria-hidden": "true" },
    makeSvg("path", { class: `curve ${name}`, d: "M0,4L22,4" }),
  );
}
