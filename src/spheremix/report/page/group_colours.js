// Colours of groups: hues around the circle in the order of the tree, so that groups that merge are
// of similar colours, and light and dark in turn, so that neighbours are told apart.

/** @import { Rgb } from "./types.d.ts" */

const CHROMA = 0.12;
const LIGHT = [0.5, 0.66]; // lightness on white, in turn
const DARK = [0.66, 0.82];
const FIRST = 25; // degrees: of the first group

// As the style of an element, by theme: {light, dark}.
/** @param {number} share of the order of the tree @param {number} i */
export function groupColour(share, i) {
  const hue = (FIRST + 330 * share) % 360;
  return {
    light: hex(oklch(LIGHT[i % 2], CHROMA, hue)),
    dark: hex(oklch(DARK[i % 2], CHROMA, hue)),
  };
}

// From OKLCH to sRGB, each part between 0 and 255.
/** @param {number} lightness @param {number} chroma @param {number} hue @returns {Rgb} */
export function oklch(lightness, chroma, hue) {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map(gamma);
}

/** @param {number} linear */
function gamma(linear) {
  const value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
  return Math.round(255 * Math.min(1, Math.max(0, value)));
}

/** @param {Rgb} colour */
function hex(colour) {
  return `#${colour.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

// The colour on the ground of this theme.
/** @param {{ light: string, dark: string }} colour */
export function seenColour(colour) {
  return document.documentElement.dataset.theme === "dark" ? colour.dark : colour.light;
}
