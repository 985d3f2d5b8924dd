// The data map's pixels: documents by cluster, words in the order of the prototype map.

/** @import { Columns, Context, Row, Rows, Step, View } from "./types.d.ts" */

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
  paintSums(new Uint32Array(image.data.buffer), sums, heights, view, width);
  const picture = new OffscreenCanvas(width, height);
  picture.getContext("2d")?.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(picture, columns.left, top / scale, width / scale, height / scale);
}

// First and last line of pixels of each document, within its cluster's row.
/** @param {Step} step @param {Row[]} rows @param {number} top @param {number} scale */
function documentLines(step, rows, top, scale) {
  const { labels } = step;
  const sizes = new Uint32Array(step.K);
  for (const k of labels) sizes[k]++;
  const seen = new Uint32Array(step.K);
  const byCluster = new Array(step.K);
  for (const row of rows) byCluster[row.k] = row;
  const lines = new Uint32Array(2 * labels.length);
  labels.forEach((k, i) => {
    if (k >= step.K) return; // it belongs nowhere: no row has it
    const { y, height } = byCluster[k];
    const from = y * scale - top;
    const first = Math.floor(from + (height * scale * seen[k]) / sizes[k]);
    const stop = Math.floor(from + (height * scale * (seen[k] + 1)) / sizes[k]);
    lines[2 * i] = first;
    lines[2 * i + 1] = Math.max(first + 1, stop);
    seen[k]++;
  });
  return lines;
}

// First and last pixel of each word, by its number.
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

// Square roots of mean values, so that rare words are still seen beside frequent ones.
/**
 * @param {Uint32Array} pixels @param {Float32Array} sums @param {Float32Array} heights
 * @param {View} view @param {number} width
 */
function paintSums(pixels, sums, heights, { step, columns, scale, palette }, width) {
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
  const hues = new Uint16Array(width);
  for (let x = 0; x < width; x++) {
    const place = Math.floor(columns.place(columns.left + (x + 0.5) / scale));
    hues[x] = step.counts[step.order[Math.max(0, Math.min(step.W - 1, place))]] * 128;
  }
  for (let i = 0; i < sums.length;) {
    for (let x = 0; x < width; x++, i++) {
      const level = sums[i] < largest ? 127 * Math.sqrt(sums[i] / largest) : 127;
      pixels[i] = palette[hues[x] + Math.round(level)];
    }
  }
}
