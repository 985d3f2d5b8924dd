// The points of the map: painted as pixels, moved, and written as SVG.

import { hex } from "../lib/colours.js";
import { contextOf, make, makeSvg } from "../lib/dom.js";
import { contourShapes } from "./contours.js";
import { leaderOf } from "./labels.js";
import { toScreen } from "./view.js";

/** @import { Context, MapLabel, MapView, PlacedLabel, Points, Rectangle, Shown } from "../types.d.ts" */

/** @typedef {{ view: MapView, radius: number, ratio: number, every: number }} Painting */

/**
 * @param {Points} points @param {Shown} shown
 * @param {(context: Context, view: MapView, ratio: number) => void} drawUnder what lies below the points
 */
export function createPainter(points, shown, drawUnder) {
  /** @type {ImageData | null} */
  let image = null;
  /** @type {(Painting & { canvas: HTMLCanvasElement, moved: boolean }) | null} */
  let last = null; // what the image holds; null: something else has changed since
  const scratch = make("canvas");
  const below = contextOf(scratch, { willReadFrequently: true });
  /** @param {MapView} view @param {number} ratio @param {Rectangle} clip */
  const drawBelow = (view, ratio, { left, top, right, bottom }) => {
    const [width, height] = [right - left, bottom - top];
    if (!width || !height) return;
    below.save();
    below.beginPath();
    below.rect(left, top, width, height);
    below.clip();
    below.fillStyle = hex(shown.ground);
    below.fillRect(left, top, width, height);
    drawUnder(below, view, ratio);
    below.restore();
    const all = scratch.width;
    if (shown.under?.length !== all * scratch.height)
      shown.under = new Int32Array(all * scratch.height);
    const part = new Int32Array(below.getImageData(left, top, width, height).data.buffer);
    for (let row = 0; row < height; row++)
      shown.under.set(part.subarray(row * width, (row + 1) * width), (top + row) * all + left);
  };

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
    fit(scratch, width, height);
    drawBelow(view, ratio, { left: 0, top: 0, right: width, bottom: height });
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
    for (const key of /** @type {const} */ (["scale", "width", "height"]))
      if (before[key] !== view[key]) return false;
    const scale = view.scale * ratio;
    const right = Math.round((before.x - view.x) * scale);
    const down = Math.round((view.y - before.y) * scale);
    if (Math.abs(right) >= width || Math.abs(down) >= height) return false;
    const next = { ...before, x: before.x - right / scale, y: before.y + down / scale };
    const pixels = new Int32Array(image.data.buffer);
    for (const clip of movePixels(pixels, width, height, right, down)) {
      drawBelow(next, ratio, clip);
      paintPoints(pixels, width, height, points, shown, next, radius, ratio, every, clip);
    }
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

/**
 * Move pixels to the right and down; return what has to be painted: at most a column and a row.
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

// Documents as discs in an array of pixels: a hundred thousand of them in a frame, without a GPU.

const PHASES = 4; // places of a centre within a pixel, a dimension
export const FULL = 128; // covered entirely
// Of FULL: the colour of what is not highlighted, and that of other groups than the chosen one.
export const FAINT = 20;
export const PALE = 52;
export const CLEAR = 100; // of FULL: points that lie over each other are darker

// Return discs with soft edges: offsets from the pixel of the centre, and coverages up to the opacity.
/** @param {number} radius @param {number} opacity up to FULL */
function createStamps(radius, opacity) {
  const reach = Math.ceil(radius + 1);
  const stamps = [];
  for (let row = 0; row < PHASES; row++) {
    for (let column = 0; column < PHASES; column++) {
      const stamp = [];
      for (let down = -reach; down <= reach; down++) {
        for (let right = -reach; right <= reach; right++) {
          const x = right + 0.5 - (column + 0.5) / PHASES;
          const y = down + 0.5 - (row + 0.5) / PHASES;
          const covered = Math.round(opacity * Math.min(1, radius + 0.5 - Math.hypot(x, y)));
          if (covered > 0) stamp.push([right, down, covered]);
        }
      }
      stamps.push(Int16Array.from(stamp.flat()));
    }
  }
  return stamps;
}

// Return a mixed colour, by integers of 31 bits at most: larger ones are slow in a browser.
/** @param {number} below @param {number} above @param {number} share of FULL */
function blended(below, above, share) {
  const rest = FULL - share;
  const outer = ((below & 0xff00ff) * rest + (above & 0xff00ff) * share) >> 7;
  const middle = ((below & 0x00ff00) * rest + (above & 0x00ff00) * share) >> 7;
  return -0x1000000 | (outer & 0xff00ff) | (middle & 0x00ff00);
}

/** Return 0xRRGGBB as the pixel of an ImageData, a signed integer. @param {number} colour */
export function pixelOf(colour) {
  return -0x1000000 | ((colour & 0xff) << 16) | (colour & 0xff00) | ((colour >> 16) & 0xff);
}

/**
 * Return the order in which points are drawn: faded ones first. Neighbours follow each other,
 * because pixels that are near each other in memory are written several times as fast.
 * @param {Uint32Array} all in the order of the index @param {Uint8Array | null} highlighted
 */
export function drawingOrder(all, highlighted) {
  if (!highlighted) return { faded: new Uint32Array(0), full: all };
  return { faded: all.filter((i) => !highlighted[i]), full: all.filter((i) => highlighted[i]) };
}

/**
 * @param {Int32Array} pixels of width x height, which are filled
 * @param {number} width @param {number} height in pixels of the screen
 * @param {Points} points @param {Shown} shown @param {MapView} view
 * @param {number} radius in pixels of the page @param {number} ratio of the screen to the page
 * @param {number} every one of so many points is drawn
 * @param {Rectangle} clip what is painted; the rest stays as it is
 */
export function paintPoints(
  pixels,
  width,
  height,
  points,
  shown,
  view,
  radius,
  ratio,
  every = 1,
  clip = { left: 0, top: 0, right: width, bottom: height },
) {
  const ground = pixelOf(shown.ground);
  const { left, top, right, bottom } = clip;
  for (let row = top; row < bottom; row++) {
    const [from, to] = [row * width + left, row * width + right];
    if (shown.under) pixels.set(shown.under.subarray(from, to), from);
    else pixels.fill(ground, from, to);
  }
  const sharp = createStamps(radius * ratio, FULL);
  const clear = createStamps(radius * ratio, shown.opacity);
  const reach = Math.ceil(radius * ratio + 1);
  const scale = view.scale * ratio;
  for (const ids of [shown.order.faded, shown.order.full]) {
    const faded = ids === shown.order.faded;
    const stamps = faded ? sharp : clear;
    for (let k = 0; k < ids.length; k += every) {
      const i = ids[k];
      const x = (points.x[i] - view.x) * scale + width / 2;
      if (x < left - reach || x >= right + reach) continue;
      const y = (view.y - points.y[i]) * scale + height / 2;
      if (y < top - reach || y >= bottom + reach) continue;
      const column = Math.floor(x);
      const row = Math.floor(y);
      const phase = Math.floor((y - row) * PHASES) * PHASES + Math.floor((x - column) * PHASES);
      const pure = pixelOf(shown.colours[i]);
      const colour = faded ? blended(ground, pure, shown.faint) : pure;
      const inside =
        column >= left + reach &&
        column < right - reach &&
        row >= top + reach &&
        row < bottom - reach;
      paintStamp(pixels, width, column, row, stamps[phase], colour, inside ? null : clip);
    }
  }
}

/**
 * @param {Int32Array} pixels @param {number} width @param {number} column @param {number} row
 * @param {Int16Array} stamp @param {number} colour
 * @param {Rectangle | null} clip null: all of the stamp is inside
 */
function paintStamp(pixels, width, column, row, stamp, colour, clip) {
  const outer = colour & 0xff00ff;
  const middle = colour & 0x00ff00;
  for (let k = 0; k < stamp.length; k += 3) {
    const right = column + stamp[k];
    const down = row + stamp[k + 1];
    if (clip && (right < clip.left || right >= clip.right)) continue;
    if (clip && (down < clip.top || down >= clip.bottom)) continue;
    const at = down * width + right;
    const share = stamp[k + 2];
    if (share === FULL) pixels[at] = colour;
    else {
      const below = pixels[at];
      const rest = FULL - share;
      pixels[at] =
        -0x1000000 |
        ((((below & 0xff00ff) * rest + outer * share) >> 7) & 0xff00ff) |
        ((((below & 0x00ff00) * rest + middle * share) >> 7) & 0x00ff00);
    }
  }
}

// The view of the map as a file: pixels (PNG) or shapes (SVG).

/**
 * Return contours, the documents in view as circles, a path for each colour, and the names above them.
 * @param {Points} points @param {Shown} shown @param {MapView} view @param {number} radius
 * @param {MapLabel[]} groups @param {ReadonlySet<number> | null} chosen
 * @param {PlacedLabel[]} labels @param {string} ink
 */
export function toSvg(points, shown, view, radius, groups, chosen, labels, ink) {
  const { width, height } = view;
  const ground = hex(shown.ground);
  const root = makeSvg("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
  });
  root.append(makeSvg("rect", { width, height, fill: ground }));
  const place = (/** @type {number} */ x, /** @type {number} */ y) => toScreen(view, x, y);
  for (const shape of contourShapes(groups, place, chosen, ink))
    root.append(makeSvg("path", shape));
  for (const [ids, opacity] of /** @type {[Uint32Array, number][]} */ ([
    [shown.order.faded, shown.faint / FULL],
    [shown.order.full, shown.opacity / FULL],
  ])) {
    const paths = discs(points, shown.colours, ids, view, radius);
    for (const [colour, path] of paths)
      root.append(
        makeSvg("path", { d: path.join(""), fill: hex(colour), "fill-opacity": opacity }),
      );
  }
  for (const label of labels) {
    const leader = leaderOf(label)?.map((one) => one.toFixed(1));
    if (!leader) continue;
    const [x1, y1, x2, y2] = leader;
    root.append(
      makeSvg("line", { x1, y1, x2, y2, stroke: label.colour ?? ink, "stroke-width": 1.25 }),
    );
  }
  for (const { text, size, left, top, height: high, colour } of labels)
    root.append(
      makeSvg("text", {
        x: left.toFixed(1),
        y: (top + high / 2).toFixed(1),
        "dominant-baseline": "central",
        "font-family": "system-ui, sans-serif",
        "font-weight": 600,
        "font-size": size.toFixed(1),
        fill: colour ?? ink,
        stroke: ground,
        "stroke-width": (size / 3).toFixed(1),
        "stroke-linejoin": "round",
        "paint-order": "stroke",
        text,
      }),
    );
  return root;
}

/**
 * @param {Points} points @param {Uint32Array} colours @param {Uint32Array} ids
 * @param {MapView} view @param {number} radius
 */
function discs(points, colours, ids, view, radius) {
  /** @type {Map<number, string[]>} */
  const paths = new Map();
  const r = radius.toFixed(2);
  const wide = (2 * radius).toFixed(2);
  for (const i of ids) {
    const [x, y] = toScreen(view, points.x[i], points.y[i]);
    if (x < -radius || y < -radius || x > view.width + radius || y > view.height + radius) continue;
    const path = paths.get(colours[i]) ?? [];
    if (!path.length) paths.set(colours[i], path);
    const left = (x - radius).toFixed(1);
    path.push(`M${left} ${y.toFixed(1)}a${r} ${r} 0 1 0 ${wide} 0a${r} ${r} 0 1 0 -${wide} 0`);
  }
  return paths;
}
