// Documents as discs in an array of pixels: a hundred thousand of them in a frame, without a GPU.

/** @import { MapView, Points, Rectangle, Shown } from "./types.d.ts" */

const PHASES = 4; // places of a centre within a pixel, a dimension
export const FULL = 128; // covered entirely
// Of FULL: the colour of what is not highlighted, and that of other groups than the chosen one.
export const FAINT = 20;
export const PALE = 52;

// Discs with soft edges: offsets from the pixel of the centre, and coverages up to FULL.
/** @param {number} radius */
function createStamps(radius) {
  const reach = Math.ceil(radius + 1);
  const stamps = [];
  for (let row = 0; row < PHASES; row++) {
    for (let column = 0; column < PHASES; column++) {
      const stamp = [];
      for (let down = -reach; down <= reach; down++) {
        for (let right = -reach; right <= reach; right++) {
          const x = right + 0.5 - (column + 0.5) / PHASES;
          const y = down + 0.5 - (row + 0.5) / PHASES;
          const covered = Math.round(FULL * Math.min(1, radius + 0.5 - Math.hypot(x, y)));
          if (covered > 0) stamp.push([right, down, covered]);
        }
      }
      stamps.push(Int16Array.from(stamp.flat()));
    }
  }
  return stamps;
}

// Integers of 31 bits at most on the way: larger ones are no integers to a browser, and slow.
/** @param {number} below @param {number} above @param {number} share of FULL */
function blended(below, above, share) {
  const rest = FULL - share;
  const outer = ((below & 0xff00ff) * rest + (above & 0xff00ff) * share) >> 7;
  const middle = ((below & 0x00ff00) * rest + (above & 0x00ff00) * share) >> 7;
  return -0x1000000 | (outer & 0xff00ff) | (middle & 0x00ff00);
}

// 0xRRGGBB as the pixel of an ImageData, a signed integer.
/** @param {number} colour */
export function pixelOf(colour) {
  return -0x1000000 | ((colour & 0xff) << 16) | (colour & 0xff00) | ((colour >> 16) & 0xff);
}

// The order in which points are drawn: faded ones first. Neighbours follow each other, because pixels
// that are near each other in memory are written several times as fast.
/**
 * @param {Uint32Array} all in the order of the index
 * @param {Uint8Array | null} visible @param {Uint8Array | null} highlighted
 */
export function drawingOrder(all, visible, highlighted) {
  const seen = visible ? all.filter((i) => visible[i]) : all;
  if (!highlighted) return { faded: new Uint32Array(0), full: seen };
  return {
    faded: seen.filter((i) => !highlighted[i]),
    full: seen.filter((i) => highlighted[i]),
  };
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
  for (let row = top; row < bottom; row++)
    pixels.fill(ground, row * width + left, row * width + right);
  const stamps = createStamps(radius * ratio);
  const reach = Math.ceil(radius * ratio + 1);
  const across = view.scale * view.stretch * ratio;
  const up = view.scale * ratio;
  for (const ids of [shown.order.faded, shown.order.full]) {
    const faded = ids === shown.order.faded;
    for (let k = 0; k < ids.length; k += every) {
      const i = ids[k];
      const x = (points.x[i] - view.x) * across + width / 2;
      if (x < left - reach || x >= right + reach) continue;
      const y = (view.y - points.y[i]) * up + height / 2;
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
