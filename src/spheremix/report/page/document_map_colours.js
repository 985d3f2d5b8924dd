// Colours of documents: one for each group or label, along a scale of dates, or by how sure they are.

/** @import { Sure } from "./types.d.ts" */

const GOLDEN = 137.508; // degrees between the hues of two groups: those after each other differ most
export const NOTHING = { light: 0xb4bac2, dark: 0x5a626c }; // without a group, a date or a value

// From lightness, chroma and hue of Oklab to 0xRRGGBB; colours that a screen lacks are made paler.
/** @param {number} lightness @param {number} chroma @param {number} degrees @returns {number} */
export function oklch(lightness, chroma, degrees) {
  const hue = (degrees * Math.PI) / 180;
  const a = chroma * Math.cos(hue);
  const b = chroma * Math.sin(hue);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  if (chroma > 0.01 && linear.some((part) => part < -0.001 || part > 1.001))
    return oklch(lightness, chroma * 0.92, degrees);
  const [red, green, blue] = linear.map((part) => {
    const inside = Math.min(1, Math.max(0, part));
    const shown = inside <= 0.0031308 ? 12.92 * inside : 1.055 * inside ** (1 / 2.4) - 0.055;
    return Math.round(255 * shown);
  });
  return (red << 16) | (green << 8) | blue;
}

// One colour for each of n labels: hues go around but for the reds, which mean something else on the
// page; lightness alternates.
/** @param {number} n @param {boolean} dark whether the ground is dark */
export function groupPalette(n, dark = false) {
  const lightness = dark ? [0.74, 0.84, 0.64] : [0.6, 0.72, 0.48];
  return Uint32Array.from({ length: n }, (_, i) =>
    oklch(lightness[i % 3], 0.16, 60 + 0.79 * ((195 + i * GOLDEN) % 360)),
  );
}

// The colour of each document by the number of its group; other numbers are grey.
/** @param {ArrayLike<number>} codes @param {ArrayLike<number>} palette @param {boolean} dark */
export function categoricalColours(codes, palette, dark = false) {
  const colours = new Uint32Array(codes.length);
  const other = dark ? NOTHING.dark : NOTHING.light;
  for (let i = 0; i < codes.length; i++) colours[i] = palette[codes[i]] ?? other;
  return colours;
}

// Blue where a document is in its group, the paler the less surely, and amber where it may as well be
// in another one. As lightness, chroma and hue.
/** @type {Record<"light" | "dark", Record<Exclude<Sure, "nowhere">, [number, number, number]>>} */
const SURE = {
  light: { clearly: [0.5, 0.12, 255], probably: [0.74, 0.09, 235], borderline: [0.66, 0.17, 60] },
  dark: { clearly: [0.74, 0.15, 255], probably: [0.55, 0.06, 245], borderline: [0.8, 0.16, 75] },
};

/** @param {Sure} sure @param {boolean} dark */
export function sureColour(sure, dark = false) {
  const theme = dark ? "dark" : "light";
  return sure === "nowhere" ? NOTHING[theme] : oklch(...SURE[theme][sure]);
}

// The colour of a share of a scale, from 0 to 1: from yellow to blue, away from the ground.
/** @param {number} share @param {boolean} dark */
export function scaleColour(share, dark = false) {
  const inside = Math.min(1, Math.max(0, share));
  const lightness = dark ? 0.46 + 0.44 * inside : 0.87 - 0.45 * inside;
  return oklch(lightness, 0.13, dark ? 265 - 170 * inside : 95 + 170 * inside);
}

// The colour of each document by a value; those without one (NaN) are grey.
/**
 * @param {ArrayLike<number>} values @param {{ low?: number, high?: number, dark?: boolean }} scale
 */
export function sequentialColours(values, { low, high, dark = false } = {}) {
  const [least, most] = ends(values);
  const from = low ?? least;
  const extent = (high ?? most) - from || 1;
  const steps = Array.from({ length: 256 }, (_, i) => scaleColour(i / 255, dark));
  const colours = new Uint32Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const share = Math.min(1, Math.max(0, (values[i] - from) / extent));
    colours[i] = Number.isFinite(values[i])
      ? steps[Math.round(255 * share)]
      : dark
        ? NOTHING.dark
        : NOTHING.light;
  }
  return colours;
}

// The least and the largest value that is a number.
/** @param {ArrayLike<number>} values */
export function ends(values) {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    if (values[i] < low && Number.isFinite(values[i])) low = values[i];
    if (values[i] > high && Number.isFinite(values[i])) high = values[i];
  }
  return low <= high ? [low, high] : [0, 1];
}
