// From the packed script of the page to plain values and typed arrays.

/** @import { Content, PackedArray } from "../types.d.ts" */

const TYPES = {
  int8: Int8Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  float32: Float32Array,
};
const ALIGNMENT = 8; // bytes, of the beginning of every array

/** @typedef {{ buffer: ArrayBuffer, start: number }} Area */

/** @param {string} base64 @returns {Promise<Content>} */
export async function readContent(base64) {
  const buffer = await gunzip(bytesOf(base64));
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const start = Math.ceil((4 + length) / ALIGNMENT) * ALIGNMENT;
  const content = revive(header, { buffer, start });
  // A dictionary with words as keys: "constructor" is a word like any other.
  content.forms = content.forms && new Map(Object.entries(content.forms));
  return content;
}

/** @param {string} base64 */
function bytesOf(base64) {
  const text = atob(base64.trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** @param {Uint8Array<ArrayBuffer>} bytes @returns {Promise<ArrayBuffer>} */
function gunzip(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** Put typed arrays where the header describes them. @param {any} value @param {Area} arrays */
function revive(value, arrays) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  if (typeof value.array === "string") return typedArray(value, arrays);
  for (const key of Object.keys(value)) {
    const revived = revive(value[key], arrays);
    if (revived !== value[key]) value[key] = revived;
  }
  return value;
}

/** @param {PackedArray} described @param {Area} arrays */
function typedArray({ array, shape, offset, delta }, arrays) {
  const size = shape.reduce((product, n) => product * n, 1);
  const values = new TYPES[array](arrays.buffer, arrays.start + offset, size);
  if (delta && shape[0] > 0) {
    // Typed arrays wrap around, as the differences did.
    for (let i = size / shape[0]; i < size; i++) values[i] += values[i - size / shape[0]];
  }
  return values;
}
