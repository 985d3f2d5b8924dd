// All colours: of the maps, of documents and of groups.

/** @import { Colours, Rgb, Sure } from "../types.d.ts" */

const READABLE = 4.8; // contrast of a name with its ground; 4.5 is asked for
// Of a colour, at the least level and at the largest: of shared words, and of those that are only here.
const SHARES = [
  [0.16, 0.48],
  [0.6, 1],
];

/** @returns {Colours} */
export function themeColours() {
  const style = getComputedStyle(document.documentElement);
  const named = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  return {
    ground: named("--map"),
    ink: named("--ink"),
    soft: named("--soft"),
    line: named("--line"),
    panel: named("--panel"),
    bar: named("--bar"),
  };
}

/** @param {string} colour as "#1d4fb8" @returns {Rgb} */
function rgb(colour) {
  const value = parseInt(colour.slice(1, 7), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** @param {Rgb} from @param {Rgb} to @param {number} share */
function mix(from, to, share) {
  return from.map((value, i) => Math.round(value + (to[i] - value) * share));
}

// Return the colour as one can read it on a ground: darker or lighter, as far as that is needed.
/** @param {string} colour @param {string} ground */
export function readable(colour, ground) {
  const below = luminance(rgb(ground));
  const to = below > 0.17 ? [0, 0, 0] : [255, 255, 255];
  const contrast = (/** @type {Rgb} */ one) => {
    const [dark, light] = [luminance(one), below].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  let seen = rgb(colour);
  while (contrast(seen) < READABLE) seen = mix(seen, to, 0.06);
  return `#${seen.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** @param {Rgb} colour */
function luminance(colour) {
  const [red, green, blue] = colour.map((part) => (part / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * Return pixels by group and level, as an ImageData holds them: 128 of words that other groups have too, then
 * 128 of words that are only here. Level 0 is ground.
 * @param {string[]} groups the colour of each @param {Pick<Colours, "ground">} colours
 */
export function createPalette(groups, colours) {
  const ground = rgb(colours.ground);
  const palette = new Uint32Array(groups.length * 256);
  groups.forEach((colour, k) => {
    SHARES.forEach(([least, most], own) => {
      for (let level = 0; level < 128; level++) {
        const share = level === 0 ? 0 : least + (most - least) * (level / 127) ** 0.75;
        palette[paletteIndex(k, own, level)] = pixel(mix(ground, rgb(colour), share));
      }
    });
  });
  return palette;
}

/** @param {number} k @param {number} own 1: no other group has the word @param {number} level */
export function paletteIndex(k, own, level) {
  return 256 * k + 128 * own + level;
}

/** @param {Rgb} colour */
function pixel([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

// Colours of documents: one for each group or label, along a scale of dates, or by how sure they are.

export const NOTHING = { light: 0xb4bac2, dark: 0x5a626c }; // without a group, a date or a value

// Return 0xRRGGBB of lightness, chroma and hue of Oklab; colours that a screen lacks are made
// paler.
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

/** Return the colours of n groups. @param {number} n @param {boolean} dark whether the ground is dark */
export function groupPalette(n, dark = false) {
  return numbersOf(n, groupColour, dark);
}

/** Return one colour for each of n labels. @param {number} n @param {boolean} dark */
export function labelPalette(n, dark = false) {
  const colourOf = (/** @type {number} */ i) =>
    themed(LABELS[i % LABELS.length], SHADES[Math.floor(i / LABELS.length) % SHADES.length]);
  return numbersOf(n, colourOf, dark);
}

/** @param {number} n @param {(i: number) => { light: string, dark: string }} colourOf @param {boolean} dark */
function numbersOf(n, colourOf, dark) {
  return Uint32Array.from({ length: n }, (_, i) =>
    Number.parseInt(colourOf(i)[dark ? "dark" : "light"].slice(1), 16),
  );
}

// Return the colour of each document by the number of its group; other numbers are grey.
/** @param {ArrayLike<number>} codes @param {ArrayLike<number>} palette @param {boolean} dark */
export function categoricalColours(codes, palette, dark = false) {
  const other = dark ? NOTHING.dark : NOTHING.light;
  return Uint32Array.from(codes, (code) => palette[code] ?? other);
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

// Return the colour of a share of a scale, from 0 to 1: from yellow to blue, away from the ground.
/** @param {number} share @param {boolean} dark */
export function scaleColour(share, dark = false) {
  const inside = Math.min(1, Math.max(0, share));
  const lightness = dark ? 0.46 + 0.44 * inside : 0.87 - 0.45 * inside;
  return oklch(lightness, 0.13, dark ? 265 - 170 * inside : 95 + 170 * inside);
}

// Return the colour of each document by a value; those without one (NaN) are grey.
/** @param {ArrayLike<number>} values @param {boolean} dark */
export function sequentialColours(values, dark = false) {
  const [least, most] = ends(values);
  const steps = Array.from({ length: 256 }, (_, i) => scaleColour(i / 255, dark));
  const codes = Array.from(values, (value) =>
    Number.isFinite(value) ? Math.round((255 * (value - least)) / (most - least || 1)) : -1,
  );
  return categoricalColours(codes, steps, dark);
}

/** Return the least and the largest value that is a number. @param {ArrayLike<number>} values */
export function ends(values) {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    if (values[i] < low && Number.isFinite(values[i])) low = values[i];
    if (values[i] > high && Number.isFinite(values[i])) high = values[i];
  }
  return low <= high ? [low, high] : [0, 1];
}

// Colours of groups: twelve that people with any kind of colour blindness can tell apart, found by a search
// that made the least difference between two of them as large as it could, on both grounds. As lightness on
// white, chroma and hue.

/** @type {[number, number, number][]} */
const PALETTE = [
  [0.644, 0.135, 269.9], // blue
  [0.577, 0.166, 13.7], // red
  [0.597, 0.094, 191.5], // teal
  [0.758, 0.158, 100.9], // yellow
  [0.49, 0.183, 291.2], // violet
  [0.434, 0.115, 49.5], // brown
  [0.759, 0.11, 222.8], // sky
  [0.585, 0.133, 123.5], // olive
  [0.736, 0.121, 37.4], // salmon
  [0.431, 0.102, 155.5], // green
  [0.553, 0.087, 357.3], // rose
  [0.438, 0.092, 325.6], // plum
];
const MUTED = 0.035; // chroma of the twelve groups after them
const BETWEEN = 0.08; // chroma of the next ones: their hues are between, dark is light
const TURN = 30; // degrees
const MIRROR = 1.19; // the sum of the two lightnesses
// Colours of labels: none of a group, and as far apart for everyone.
/** @type {[number, number, number][]} */
const LABELS = [
  [0.572, 0.113, 238.1], // steel
  [0.742, 0.159, 71.3], // orange
  [0.4, 0.102, 23.9], // maroon
  [0.78, 0.135, 180.8], // turquoise
  [0.523, 0.1, 87.9], // bronze
  [0.41, 0.052, 249.1], // slate
  [0.78, 0.083, 116], // lime
  [0.591, 0.053, 142.3], // sage
];
// Parts of a group, after the first one: lighter, darker, paler.
const SHADES = [
  { lighter: 0, purer: 1 },
  { lighter: 0.1, purer: 0.75 },
  { lighter: -0.1, purer: 0.9 },
  { lighter: 0.05, purer: 0.5 },
  { lighter: -0.05, purer: 0.55 },
];

// Return the colour of a group by theme, as the style of an element.
/** @param {number} number in the palette @param {number} shade 0: the colour itself */
export function groupColour(number, shade = 0) {
  const [lightness, chroma, hue] = PALETTE[Math.floor(number) % PALETTE.length];
  const round = Math.floor(number / PALETTE.length);
  const { lighter, purer } = SHADES[Math.floor(shade) % SHADES.length];
  if (round === 0) return themed([lightness, chroma, hue], { lighter, purer });
  return round % 2
    ? themed([lightness, MUTED, hue], { lighter, purer: 1 })
    : themed([MIRROR - lightness, BETWEEN, hue + TURN], { lighter, purer: 1 });
}

/** @param {[number, number, number]} colour @param {{ lighter: number, purer: number }} shade */
function themed([lightness, chroma, hue], { lighter, purer }) {
  const dark = 0.58 + 0.62 * (lightness - 0.42);
  return {
    light: hex(oklch(lightness + lighter, chroma * purer, hue)),
    dark: hex(oklch(dark + 0.8 * lighter, chroma * purer, hue)),
  };
}

// Return the colour on the ground of this theme.
/** @param {{ light: string, dark: string }} colour */
export function seenColour(colour) {
  return document.documentElement.dataset.theme === "dark" ? colour.dark : colour.light;
}

/** @param {number} colour */
export function hex(colour) {
  return `#${colour.toString(16).padStart(6, "0")}`;
}
