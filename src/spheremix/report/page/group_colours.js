// Colours of groups: hues around the circle in the order of the tree, so that groups that merge are
// of similar colours, and light and dark in turn, so that neighbours are told apart.

import { oklch } from "./document_map_colours.js";
import { hex } from "./document_map_picture.js";

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

// The colour on the ground of this theme.
/** @param {{ light: string, dark: string }} colour */
export function seenColour(colour) {
  return document.documentElement.dataset.theme === "dark" ? colour.dark : colour.light;
}
