// What the maps draw on a canvas, as SVG: just the calls that they use.

import { makeSvg } from "./dom.js";

const FAMILY = "sans-serif";

/**
 * @param {number} width @param {number} height @param {string} ground
 * @returns {{ context: CanvasRenderingContext2D, drawing: SVGSVGElement }}
 */
export function createSvgContext(width, height, ground) {
  const drawing = emptyDrawing(width, height, ground);
  /** @type {{ transform: string, x: number, y: number }[]} */
  const saved = [];
  let place = { transform: "", x: 0, y: 0 };
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
    if (place.transform) one.setAttribute("transform", place.transform);
    drawing.append(one);
  };
  const calls = {
    save: () => saved.push({ ...place }),
    restore: () => (place = saved.pop() ?? { transform: "", x: 0, y: 0 }),
    translate: (/** @type {number} */ x, /** @type {number} */ y) =>
      (place = { ...place, transform: `${place.transform} translate(${x} ${y})`.trim() }),
    rotate: (/** @type {number} */ angle) =>
      (place = {
        ...place,
        transform: `${place.transform} rotate(${(angle * 180) / Math.PI})`.trim(),
      }),
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

// A font as "600 11px system-ui" gives its weight and its size.
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
