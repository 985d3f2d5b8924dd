// The pixels of the maps of words: where columns and rows stand, and what is painted there.

import { paletteIndex } from "../lib/colours.js";

/** @import { Columns, Context, Row, Rows, Step, StepEntry, View, Zoom } from "../types.d.ts" */

const NOBODY = 0.12; // of the width, at most, for the words that no group has

/**
 * @param {Pick<Step, "active" | "W">} step @param {Zoom} zoom @param {number} left
 * @param {number} width
 * @returns {Columns}
 */
export function createColumns(step, zoom, left, width) {
  const { active, W } = step;
  const idle = W - active;
  const narrow =
    active === 0 ? 1 : Math.min(1, (NOBODY / (1 - NOBODY)) * (active / Math.max(1, idle)));
  const total = active + narrow * idle;
  const unit = width / (total * (zoom[1] - zoom[0])); // pixels of a column
  const origin = left - zoom[0] * total * unit;
  // From a place in the order (not always whole) to pixels, and back.
  const x = (/** @type {number} */ place) =>
    origin + unit * (place <= active ? place : active + narrow * (place - active));
  const placeAt = (/** @type {number} */ pixels) => {
    const units = (pixels - origin) / unit;
    return units <= active ? units : active + (units - active) / narrow;
  };
  return {
    x,
    place: placeAt,
    unit,
    left,
    right: left + width,
    share: (at) => (x(at) - origin) / (total * unit),
  };
}

// Return a part of the map, of at least some columns, kept within it.
/** @param {number} from @param {number} to @param {Pick<Step, "W">} step @returns {Zoom} */
export function zoomTo(from, to, step) {
  const least = Math.min(1, 12 / step.W);
  const span = Math.min(1, Math.max(least, to - from));
  const start = Math.min(1 - span, Math.max(0, (from + to - span) / 2));
  return [Number(start.toFixed(6)), Number((start + span).toFixed(6))];
}

/**
 * @param {Zoom} zoom @param {number} factor @param {number} centre @param {Pick<Step, "W">} step
 */
export function zoomBy(zoom, factor, centre, step) {
  const span = Math.min(1, (zoom[1] - zoom[0]) / factor);
  const share = zoom[0] + centre * (zoom[1] - zoom[0]);
  const from = Math.min(1 - span, Math.max(0, share - centre * span));
  return zoomTo(from, from + span, step);
}

/** @param {Zoom} zoom @param {number} share @returns {Zoom} */
export function panBy(zoom, share) {
  const span = zoom[1] - zoom[0];
  const from = Math.min(1 - span, Math.max(0, zoom[0] + share * span));
  return [Number(from.toFixed(6)), Number((from + span).toFixed(6))];
}

/**
 * Return rows as high as their groups are large, the small ones still seen.
 * @param {{ groups: number[], entry: Pick<StepEntry, "sizes"> }} step @param {number} top
 * @param {number} height
 */
export function createRows(step, top, height) {
  const sizes = step.groups.map((k) => Math.max(0, step.entry.sizes[k]));
  const total = sizes.reduce((sum, size) => sum + size, 0) || 1;
  const least = Math.min(14, (0.7 * height) / sizes.length);
  const heights = fairHeights(
    sizes.map((size) => (size / total) * height),
    least,
    height,
  );
  /** @type {Row[]} */
  const rows = [];
  let y = top;
  step.groups.forEach((k, i) => {
    rows.push({ k, y, height: heights[i] });
    y += heights[i];
  });
  return rows;
}

// Return heights of which none is below the least: the others are cut in proportion.
/** @param {number[]} wanted @param {number} least @param {number} height */
function fairHeights(wanted, least, height) {
  let heights = wanted;
  for (let round = 0; round < 8; round++) {
    const small = heights.map((h) => h < least + 1e-9);
    const given = small.filter(Boolean).length * least;
    const rest = heights.reduce((sum, h, i) => sum + (small[i] ? 0 : h), 0);
    const factor = rest > 0 ? (height - given) / rest : 1;
    heights = heights.map((h, i) => (small[i] ? least : h * factor));
    if (heights.every((h) => h >= least - 1e-9)) break;
  }
  return heights;
}

// The prototype map's pixels: one row a group, one column a word in the paper's order.

const STRIPES = 6; // pixels

// Paint each pixel as the heaviest of the words that fall on it.
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

/**
 * Return the first and last place of the words on each pixel.
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
    line[i] = palette[paletteIndex(k, Number(counts[word] === 1), gap ? 0 : Math.abs(best))];
  }
}

// The data map's pixels: documents by group, words in the order of the prototype map.

/** @param {Context} context @param {View} view */
export function paintDocuments(context, view) {
  const { content, step, columns, rows, scale } = view;
  const width = Math.round((columns.right - columns.left) * scale);
  const top = Math.round(rows[0].y * scale);
  const last = rows[rows.length - 1];
  const height = Math.round((last.y + last.height) * scale) - top;
  const lines = documentLines(step, rows, top, scale);
  const across = wordPixels(step, columns, scale);
  if (!content.rows) return;
  const { sums, heights } = addUp(content.rows, lines, across, width, height);
  const image = context.createImageData(width, height);
  paintSums(new Uint32Array(image.data.buffer), sums, heights, view, width, top);
  const picture = new OffscreenCanvas(width, height);
  picture.getContext("2d")?.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(picture, columns.left, top / scale, width / scale, height / scale);
}

// Return the first and last line of pixels of each document, within the row of its group.
/** @param {Step} step @param {Row[]} rows @param {number} top @param {number} scale */
function documentLines(step, rows, top, scale) {
  const { labels } = step;
  const sizes = new Uint32Array(step.K);
  for (const k of labels) sizes[k]++;
  const seen = new Uint32Array(step.K);
  const byGroup = new Array(step.K);
  for (const row of rows) byGroup[row.k] = row;
  const lines = new Uint32Array(2 * labels.length);
  labels.forEach((k, i) => {
    if (k >= step.K) return; // it belongs nowhere: no row has it
    const { y, height } = byGroup[k];
    const from = y * scale - top;
    const first = Math.floor(from + (height * scale * seen[k]) / sizes[k]);
    const stop = Math.floor(from + (height * scale * (seen[k] + 1)) / sizes[k]);
    lines[2 * i] = first;
    lines[2 * i + 1] = Math.max(first + 1, stop);
    seen[k]++;
  });
  return lines;
}

// Return the first and last pixel of each word, by its number.
/** @param {Step} step @param {Columns} columns @param {number} scale */
function wordPixels(step, columns, scale) {
  const across = new Int32Array(2 * step.W);
  step.order.forEach((j, place) => {
    const first = Math.floor((columns.x(place) - columns.left) * scale + 1e-6);
    const stop = Math.floor((columns.x(place + 1) - columns.left) * scale + 1e-6);
    across[2 * j] = first;
    across[2 * j + 1] = Math.max(first + 1, stop);
  });
  return across;
}

/**
 * @param {Rows} rows @param {Uint32Array} lines @param {Int32Array} across @param {number} width
 * @param {number} height
 */
function addUp(rows, lines, across, width, height) {
  const sums = new Float32Array(width * height);
  const heights = new Float32Array(height); // documents on each line of pixels
  const { indptr, words, values, scale } = rows;
  for (let i = 0; i + 1 < indptr.length; i++) {
    const unit = scale ? scale[i] / 65535 : 1;
    const first = lines[2 * i];
    const stop = Math.min(height, lines[2 * i + 1]);
    for (let y = first; y < stop; y++) heights[y]++;
    for (let at = indptr[i]; at < indptr[i + 1]; at++) {
      const from = Math.max(0, across[2 * words[at]]);
      const to = Math.min(width, across[2 * words[at] + 1]);
      const value = Math.abs(values[at] * unit);
      for (let y = first; y < stop; y++) {
        for (let x = from; x < to; x++) sums[y * width + x] += value;
      }
    }
  }
  return { sums, heights };
}

/**
 * Paint square roots of mean values, so that rare words are still seen beside frequent ones.
 * @param {Uint32Array} pixels @param {Float32Array} sums @param {Float32Array} heights
 * @param {View} view @param {number} width @param {number} top
 */
function paintSums(pixels, sums, heights, { step, columns, rows, scale, palette }, width, top) {
  /** @type {number[]} */
  const sample = [];
  heights.forEach((n, y) => {
    for (let i = y * width; n > 0 && i < (y + 1) * width; i++) {
      sums[i] /= n;
      if (i % 31 === 0 && sums[i] > 0) sample.push(sums[i]);
    }
  });
  const sorted = Float32Array.from(sample).sort();
  const largest = sorted.length ? sorted[Math.floor(0.99 * (sorted.length - 1))] : 1;
  const words = Array.from({ length: width }, (_, x) => {
    const place = Math.floor(columns.place(columns.left + (x + 0.5) / scale));
    return step.order[Math.max(0, Math.min(step.W - 1, place))];
  });
  for (const { k, y, height } of rows) {
    const first = paletteIndex(k, 0, 0);
    // Solid where no other group has the word: in the documents of others it is pale.
    const starts = words.map((j) => {
      const own = step.counts[j] === 1 && step.levels[k * step.W + j] !== 0;
      return own ? paletteIndex(k, 1, 0) : first;
    });
    const stop = Math.min(heights.length, Math.round((y + height) * scale) - top);
    for (let line = Math.max(0, Math.round(y * scale) - top); line < stop; line++) {
      for (let x = 0, i = line * width; x < width; x++, i++) {
        const level = sums[i] < largest ? 127 * Math.sqrt(sums[i] / largest) : 127;
        pixels[i] = palette[starts[x] + Math.round(level)];
      }
    }
  }
}
