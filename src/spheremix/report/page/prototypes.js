// The prototype map's pixels: one row a cluster, one column a word in the paper's order.

/** @import { Columns, Context, Step, View } from "./types.d.ts" */

const STRIPES = 6; // pixels

// Each pixel shows the heaviest of the words that fall on it.
/** @param {Context} context @param {View} view */
export function paintPrototypes(context, { step, columns, rows, palette, scale }) {
  const width = Math.round((columns.right - columns.left) * scale);
  const image = context.createImageData(width, rows.length);
  const pixels = new Uint32Array(image.data.buffer);
  const bounds = pixelBounds(step, columns, width, scale);
  rows.forEach(({ k }, row) => {
    paintRow(pixels.subarray(row * width, (row + 1) * width), step, k, bounds, palette);
  });
  const strip = new OffscreenCanvas(width, rows.length);
  strip.getContext("2d")?.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  rows.forEach(({ y, height }, row) => {
    // On whole pixels of the device, or rows would be blurred.
    const top = Math.round(y * scale) / scale;
    const bottom = Math.round((y + height) * scale) / scale;
    context.drawImage(strip, 0, row, width, 1, columns.left, top, width / scale, bottom - top);
  });
}

// First and last place of the words on each pixel.
/**
 * @param {Pick<Step, "W">} step @param {Columns} columns @param {number} width
 * @param {number} scale
 */
function pixelBounds(step, columns, width, scale) {
  const bounds = new Int32Array(2 * width);
  for (let i = 0; i < width; i++) {
    const first = Math.floor(columns.place(columns.left + i / scale) + 1e-6);
    const last = Math.ceil(columns.place(columns.left + (i + 1) / scale) - 1e-6);
    bounds[2 * i] = Math.max(0, Math.min(step.W - 1, first));
    bounds[2 * i + 1] = Math.max(bounds[2 * i] + 1, Math.min(step.W, last));
  }
  return bounds;
}

/**
 * @param {Uint32Array} line @param {Pick<Step, "levels" | "order" | "counts" | "W">} step
 * @param {number} k @param {Int32Array} bounds @param {Uint32Array} palette
 */
function paintRow(line, step, k, bounds, palette) {
  const { levels, order, counts, W } = step;
  const start = k * W;
  for (let i = 0; i < line.length; i++) {
    let best = 0;
    let word = order[bounds[2 * i]];
    for (let place = bounds[2 * i]; place < bounds[2 * i + 1]; place++) {
      const q = levels[start + order[place]];
      if (q > 0 ? q > Math.abs(best) : -q > Math.abs(best)) {
        best = q;
        word = order[place];
      }
    }
    // What is negative has stripes.
    const gap = best < 0 && i % STRIPES >= STRIPES / 2;
    line[i] = palette[counts[word] * 128 + (gap ? 0 : Math.abs(best))];
  }
}
