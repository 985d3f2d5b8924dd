// What the canvas of the map of documents shows: painted anew, or, while a hand drags the map, moved by
// whole pixels, with new points only where it has moved away from the edge.

import { contextOf } from "./dom.js";
import { paintPoints } from "./document_map_points.js";

/** @import { MapView, Points, Rectangle, Shown } from "./types.d.ts" */

/** @typedef {{ view: MapView, radius: number, ratio: number, every: number }} Painting */

/** @param {Points} points @param {Shown} shown */
export function createPainter(points, shown) {
  /** @type {ImageData | null} */
  let image = null;
  /** @type {(Painting & { canvas: HTMLCanvasElement, moved: boolean }) | null} */
  let last = null; // what the image holds; null: something else has changed since

  // All of it; one of `every` points.
  /** @param {HTMLCanvasElement} canvas @param {Painting} painting */
  const paint = (canvas, painting) => {
    const { view, radius, ratio, every } = painting;
    const width = Math.max(1, Math.round(view.width * ratio));
    const height = Math.max(1, Math.round(view.height * ratio));
    fit(canvas, width, height);
    const context = contextOf(canvas);
    if (image?.width !== width || image.height !== height)
      image = context.createImageData(width, height);
    const pixels = new Int32Array(image.data.buffer);
    paintPoints(pixels, width, height, points, shown, view, radius, ratio, every);
    context.putImageData(image, 0, 0);
    last = { ...painting, canvas, moved: false };
  };

  // The same, moved: whether that was possible.
  /** @param {HTMLCanvasElement} canvas @param {MapView} view @param {number} ratio */
  const move = (canvas, view, ratio) => {
    if (!image || last?.canvas !== canvas || last.ratio !== ratio) return false;
    const { view: before, radius, every } = last;
    const { width, height } = image;
    for (const key of /** @type {const} */ (["scale", "stretch", "width", "height"]))
      if (before[key] !== view[key]) return false;
    const across = view.scale * view.stretch * ratio;
    const up = view.scale * ratio;
    const right = Math.round((before.x - view.x) * across);
    const down = Math.round((view.y - before.y) * up);
    if (Math.abs(right) >= width || Math.abs(down) >= height) return false;
    const next = { ...before, x: before.x - right / across, y: before.y + down / up };
    const pixels = new Int32Array(image.data.buffer);
    for (const clip of movePixels(pixels, width, height, right, down))
      paintPoints(pixels, width, height, points, shown, next, radius, ratio, every, clip);
    contextOf(canvas).putImageData(image, 0, 0);
    last = { ...last, view: next, moved: true };
    return true;
  };

  return {
    paint,
    move,
    forget: () => (last = null),
    // Whether all points are where they belong, to a part of a pixel.
    isWhole: () => last !== null && !last.moved && last.every === 1,
  };
}

// Pixels to the right and down; gives what has to be painted: at most a column and a row.
/**
 * @param {Int32Array} pixels @param {number} width @param {number} height
 * @param {number} right @param {number} down @returns {Rectangle[]}
 */
export function movePixels(pixels, width, height, right, down) {
  const by = down * width + right;
  if (by > 0) pixels.copyWithin(by, 0, pixels.length - by);
  else if (by < 0) pixels.copyWithin(0, -by);
  /** @type {Rectangle[]} */
  const bare = [];
  if (down > 0) bare.push({ left: 0, top: 0, right: width, bottom: down });
  if (down < 0) bare.push({ left: 0, top: height + down, right: width, bottom: height });
  const rows = { top: Math.max(0, down), bottom: height + Math.min(0, down) };
  if (right > 0) bare.push({ left: 0, right, ...rows });
  if (right < 0) bare.push({ left: width + right, right: width, ...rows });
  return bare;
}

/** @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
export function fit(canvas, width, height) {
  if (canvas.width === width && canvas.height === height) return;
  canvas.width = width;
  canvas.height = height;
}
