// Small drawings: curves, areas over time, and what the maps draw on a canvas as SVG.

import { makeSvg } from "./dom.js";

/** @import { Curve } from "../types.d.ts" */

/**
 * Return the points of one curve; where there is no value, the line has a gap. A criterion may end
 * far above where it began: what is higher than its first value and three quarters of all is cut
 * off.
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

/** Return the stroke of a curve for the legend. @param {string} name */
export function strokeSample(name) {
  return makeSvg(
    "svg",
    { class: "sample", viewBox: "0 0 22 8", "aria-hidden": "true" },
    makeSvg("path", { class: `curve ${name}`, d: "M0,4L22,4" }),
  );
}

// Numbers over time as areas: every period is seen, however many there are.

// Return a step for each period, from the ground up; what has no value lies on the ground.
/** @param {(number | null)[]} values @param {number} width @param {number} height @param {number} top */
export function stepsPath(values, width, height, top) {
  const wide = width / values.length;
  let path = `M0,${height}`;
  values.forEach((value, i) => {
    const y = (height * (1 - (value ?? 0) / (top || 1))).toFixed(2);
    path += `L${(i * wide).toFixed(2)},${y}L${((i + 1) * wide).toFixed(2)},${y}`;
  });
  return `${path}L${width},${height}Z`;
}

// Return the largest of the periods of each pixel, where there are more periods than pixels.
/** @param {number[]} values @param {number} most */
export function largestOf(values, most) {
  if (values.length <= most) return values;
  return Array.from({ length: most }, (_, i) => {
    const from = Math.floor((i * values.length) / most);
    const to = Math.max(from + 1, Math.floor(((i + 1) * values.length) / most));
    return Math.max(...values.slice(from, to));
  });
}

// Return the mean of each value with its neighbours on both sides; none at the ends, where a mean
// of fewer would be higher or lower for no reason of theirs.
/** @param {number[]} values @param {number} reach @returns {(number | null)[]} */
export function smoothed(values, reach) {
  return values.map((_, i) => {
    if (i < reach || i + reach >= values.length) return null;
    const near = values.slice(i - reach, i + reach + 1);
    return near.reduce((sum, value) => sum + value, 0) / near.length;
  });
}

const ROUND = [1, 2, 5, 10, 20, 50, 100, 200, 500]; // years between two marks of the axis

// Return where the axis is marked: at the beginnings of years, or at some of the months of one
// year.
/** @param {string[]} periods @param {number} most marks of years; of months, half as many */
export function axisTicks(periods, most) {
  const all = periods.map((period, at) => ({ at, text: period }));
  const years = all
    .filter(({ text }) => text.length === 4 || text.endsWith("-01"))
    .map(({ at, text }) => ({ at, text: text.slice(0, 4) }));
  if (years.length > 1) {
    const step = ROUND.find((one) => years.length / one <= most) ?? 1000;
    return years.filter(({ text }) => Number(text) % step === 0);
  }
  const every = Math.max(1, Math.ceil((2 * all.length) / most));
  return all.filter(({ at }) => at % every === 0);
}

// What the maps draw on a canvas, as SVG: just the calls that they use.

const FAMILY = "sans-serif";

/**
 * @param {number} width @param {number} height @param {string} ground
 * @returns {{ context: CanvasRenderingContext2D, drawing: SVGSVGElement }}
 */
export function createSvgContext(width, height, ground) {
  const drawing = emptyDrawing(width, height, ground);
  /** @type {string[]} */
  const saved = [];
  let transform = "";
  const measure = new OffscreenCanvas(1, 1).getContext("2d");
  const pen = {
    fillStyle: "#000",
    strokeStyle: "#000",
    lineWidth: 1,
    globalAlpha: 1,
    font: `12px ${FAMILY}`,
    textAlign: "left",
    textBaseline: "alphabetic",
    imageSmoothingEnabled: false,
  };
  const add = (/** @type {SVGElement} */ one) => {
    if (pen.globalAlpha < 1) one.setAttribute("opacity", String(pen.globalAlpha));
    if (transform) one.setAttribute("transform", transform);
    drawing.append(one);
  };
  const calls = {
    save: () => saved.push(transform),
    restore: () => (transform = saved.pop() ?? ""),
    translate: (/** @type {number} */ x, /** @type {number} */ y) =>
      (transform = `${transform} translate(${x} ${y})`.trim()),
    rotate: (/** @type {number} */ angle) =>
      (transform = `${transform} rotate(${(angle * 180) / Math.PI})`.trim()),
    fillRect: (
      /** @type {number} */ x,
      /** @type {number} */ y,
      /** @type {number} */ wide,
      /** @type {number} */ high,
    ) => add(makeSvg("rect", { x, y, width: wide, height: high, fill: pen.fillStyle })),
    strokeRect: (
      /** @type {number} */ x,
      /** @type {number} */ y,
      /** @type {number} */ wide,
      /** @type {number} */ high,
    ) =>
      add(
        makeSvg("rect", {
          ...{ x, y, width: wide, height: high, fill: "none", stroke: pen.strokeStyle },
          "stroke-width": pen.lineWidth,
        }),
      ),
    fillText: (/** @type {string} */ text, /** @type {number} */ x, /** @type {number} */ y) =>
      add(makeSvg("text", { ...textStyle(pen), x, y, fill: pen.fillStyle, text })),
    measureText: (/** @type {string} */ text) => {
      if (measure) measure.font = pen.font;
      return measure?.measureText(text) ?? { width: 7 * text.length };
    },
    createImageData: (/** @type {number} */ wide, /** @type {number} */ high) =>
      new ImageData(wide, high),
    drawImage: (/** @type {[OffscreenCanvas, ...number[]]} */ ...[image, ...where]) => {
      const [sx, sy, wide, high, x, y, shownWide, shownHigh] = where;
      const strip = document.createElement("canvas");
      strip.width = wide;
      strip.height = high;
      strip.getContext("2d")?.drawImage(image, sx, sy, wide, high, 0, 0, wide, high);
      add(
        makeSvg("image", {
          ...{ x, y, width: shownWide, height: shownHigh, href: strip.toDataURL() },
          preserveAspectRatio: "none",
          "image-rendering": "pixelated",
        }),
      );
    },
  };
  const context = Object.assign(pen, calls);
  return { context: /** @type {any} */ (context), drawing };
}

/** @param {number} width @param {number} height @param {string} ground */
export function emptyDrawing(width, height, ground) {
  return makeSvg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FAMILY },
    makeSvg("rect", { width, height, fill: ground }),
  );
}

// Return weight and size of a font such as "600 11px system-ui".
/** @param {{ font: string, textAlign: string, textBaseline: string }} pen */
function textStyle({ font, textAlign, textBaseline }) {
  const [, weight, size] = /^(?:(\d+) )?([\d.]+)px/u.exec(font) ?? [];
  return {
    "font-size": size,
    "font-weight": weight ?? null,
    "text-anchor": textAlign === "right" ? "end" : textAlign === "center" ? "middle" : "start",
    "dominant-baseline": textBaseline === "middle" ? "central" : null,
  };
}
