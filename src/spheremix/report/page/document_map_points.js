// Documents as discs in an array of pixels: a hundred thousand of them in a frame, without a GPU.

/** @import { MapView, Points, Shown } from "./types.d.ts" */

const PHASES = 4; // places of a centre within a pixel, a dimension
const FADED = 0.16; // of its colour, for what is not highlighted

// Discs with soft edges: offsets from the pixel of the centre, and coverages up to 256.
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
          const covered = Math.min(1, radius + 0.5 - Math.hypot(x, y));
          if (covered > 0.02) stamp.push([right, down, Math.round(256 * covered)]);
        }
      }
      stamps.push(Int16Array.from(stamp.flat()));
    }
  }
  return stamps;
}

/** @param {number} below @param {number} above @param {number} share of 256 */
function blended(below, above, share) {
  const rest = 256 - share;
  const outer = ((below & 0xff00ff) * rest + (above & 0xff00ff) * share) >>> 8;
  const middle = ((below & 0x00ff00) * rest + (above & 0x00ff00) * share) >>> 8;
  return (0xff000000 | (outer & 0xff00ff) | (middle & 0x00ff00)) >>> 0;
}

// 0xRRGGBB as the pixel of an ImageData.
/** @param {number} colour */
export function pixelOf(colour) {
  return (0xff000000 | ((colour & 0xff) << 16) | (colour & 0xff00) | ((colour >> 16) & 0xff)) >>> 0;
}

// The order in which points are drawn: faded ones first, highlighted ones last.
/** @param {number} n @param {Uint8Array | null} visible @param {Uint8Array | null} highlighted */
export function drawingOrder(n, visible, highlighted) {
  /** @type {number[]} */
  const faded = [];
  /** @type {number[]} */
  const full = [];
  for (let i = 0; i < n; i++) {
    if (visible && !visible[i]) continue;
    (highlighted && !highlighted[i] ? faded : full).push(i);
  }
  return { faded: Uint32Array.from(faded), full: Uint32Array.from(full) };
}

/**
 * @param {Uint32Array} pixels of width x height, which are filled
 * @param {number} width @param {number} height in pixels of the screen
 * @param {Points} points @param {Shown} shown @param {MapView} view
 * @param {number} radius in pixels of the page @param {number} ratio of the screen to the page
 */
export function paintPoints(pixels, width, height, points, shown, view, radius, ratio) {
  pixels.fill(pixelOf(shown.ground));
  const stamps = createStamps(radius * ratio);
  const across = view.scale * view.stretch * ratio;
  const up = view.scale * ratio;
  const reach = Math.ceil(radius * ratio + 1);
  const ground = pixelOf(shown.ground);
  const paint = (/** @type {Uint32Array} */ ids, /** @type {boolean} */ faded) => {
    for (const i of ids) {
      const x = (points.x[i] - view.x) * across + width / 2;
      const y = (view.y - points.y[i]) * up + height / 2;
      const column = Math.floor(x);
      const row = Math.floor(y);
      if (column < -reach || row < -reach || column >= width + reach || row >= height + reach)
        continue;
      let colour = pixelOf(shown.colours[i]);
      if (faded) colour = blended(ground, colour, 256 * FADED);
      const inside =
        column >= reach && row >= reach && column < width - reach && row < height - reach;
      const phase = Math.floor((y - row) * PHASES) * PHASES + Math.floor((x - column) * PHASES);
      const stamp = stamps[phase];
      const centre = row * width + column;
      for (let k = 0; k < stamp.length; k += 3) {
        if (!inside) {
          const right = column + stamp[k];
          const down = row + stamp[k + 1];
          if (right < 0 || down < 0 || right >= width || down >= height) continue;
        }
        const at = centre + stamp[k + 1] * width + stamp[k];
        const share = stamp[k + 2];
        pixels[at] = share === 256 ? colour : blended(pixels[at], colour, share);
      }
    }
  };
  paint(shown.order.faded, true);
  paint(shown.order.full, false);
}
