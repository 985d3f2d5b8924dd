// Colours of the maps: a hue for each number of clusters, paler for what weighs less.

/** @import { Colours, Rgb } from "./types.d.ts" */

const FAINTEST = 0.25; // of a hue: what is not zero must be seen

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

/** @param {string} hex @returns {Rgb} */
function rgb(hex) {
  const value = parseInt(hex.slice(1, 7), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** @param {Rgb} from @param {Rgb} to @param {number} share */
function mix(from, to, share) {
  return from.map((value, i) => Math.round(value + (to[i] - value) * share));
}

// On a dark ground, hues that are made for paper are lightened until they are seen.
/** @param {string[]} hues @param {Pick<Colours, "ground">} colours */
export function seenHues(hues, colours) {
  const ground = luminance(rgb(colours.ground));
  if (ground > 0.17) return hues; // from there on not even white would reach this contrast
  return hues.map((hex) => {
    let hue = rgb(hex);
    while ((luminance(hue) + 0.05) / (ground + 0.05) < 4.5) hue = mix(hue, [255, 255, 255], 0.1);
    return `#${hue.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
  });
}

/** @param {Rgb} colour */
function luminance(colour) {
  const [red, green, blue] = colour.map((part) => (part / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

// Pixels by number of clusters and level, 128 each, as an ImageData holds them; level 0 is ground.
/** @param {string[]} hues @param {Pick<Colours, "ground">} colours */
export function createPalette(hues, colours) {
  const ground = rgb(colours.ground);
  const palette = new Uint32Array(hues.length * 128);
  hues.forEach((hex, count) => {
    for (let level = 0; level < 128; level++) {
      const share = level === 0 ? 0 : FAINTEST + (1 - FAINTEST) * (level / 127) ** 0.75;
      palette[count * 128 + level] = pixel(mix(ground, rgb(hex), share));
    }
  });
  return palette;
}

/** @param {Rgb} colour */
function pixel([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
