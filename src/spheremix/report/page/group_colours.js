// Colours of groups: hues around the circle in the order of the tree, so that groups that merge are
// of similar colours, and light and dark in turn, so that neighbours are told apart.

import { oklch } from "./document_map_colours.js";
import { hex } from "./document_map_picture.js";

const CHROMA = 0.12;
const LIGHT = [0.5, 0.66]; // lightness on white, in turn
const DARK = [0.66, 0.82];
// Degrees of the first group, and to the last one: reds are left out, because red words are those that
// only one group has.
const FIRST = 60;
const AROUND = 285;

// As the style of an element, by theme: {light, dark}.
/** @param {number} share of the order of the tree @param {number} i */
export function groupColour(share, i) {
  const hue = FIRST + AROUND * share;
  return {
    light: hex(oklch(LIGHT[i % 2], CHROMA, hue)),
    dark: hex(oklch(DARK[i % 2], CHROMA, hue)),
  };
}

// The colour on the ground of this theme.
/** @param {{ light: string, dark: string }} colour */
export function seenColour(colour) {
  return document.documentElement.dataset.theme === "dark" ? colour.dark : colour.light;
}
