// Thin lines: several curves in one small drawing, each on its own scale.

import { makeSvg } from "./dom.js";

// Points of one curve; where there is no value, the line has a gap. A criterion may end far above
// where it began: what is higher than its first value and three quarters of all is cut off.
function linePath(xs, ys, width, height, cut) {
  const known = ys.filter((y) => Number.isFinite(y));
  const sorted = known.toSorted((a, b) => a - b);
  const low = sorted[0];
  const high = cut ? Math.max(known[0], sorted[Math.floor(0.75 * sorted.length)]) : sorted.at(-1);
  const span = high - low || 1;
  let path = "";
  let pen = "M";
  ys.forEach((y, i) => {
    if (!Number.isFinite(y)) {
      pen = "M";
      return;
    }
    const down = (1 - (y - low) / span) * height;
    path += `${pen}${(xs[i] * width).toFixed(1)},${down.toFixed(1)}`;
    pen = "L";
  });
  return path;
}

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
export function strokeSample(name) {
  return makeSvg(
    "svg",
    { class: "sample", viewBox: "0 0 22 8", "aria-hidden": "true" },
    makeSvg("path", { class: `curve ${name}`, d: "M0,4L22,4" }),
  );
}
