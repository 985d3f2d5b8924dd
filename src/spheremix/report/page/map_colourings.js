// What the colours of the map of documents can mean, and the legend that says it.

import { bdi, make } from "./dom.js";
import {
  categoricalColours,
  ends,
  groupPalette,
  NOTHING,
  scaleColour,
  sequentialColours,
  sureColour,
} from "./document_map_colours.js";
import { hex } from "./document_map_picture.js";
import { countSure, SURE_NAMES, SURE_ORDER, sureOf } from "./certainty.js";
import { integer } from "./format.js";

/** @import { Colouring, Content, Documents, LegendItem } from "./types.d.ts" */

// By the labels of each column, by date, by how sure it is: whatever there is.
/** @param {Content} content @param {Documents} documents @returns {Colouring[]} */
export function colourings(content, documents) {
  return [
    ...labelColourings(documents),
    ...dateColouring(documents),
    ...sureColouring(content, documents),
  ];
}

/** @param {Documents} documents @returns {Colouring[]} */
function labelColourings({ label_columns: columns, label_names: names, labels }) {
  return (columns ?? []).flatMap(({ name, start, stop }, c) => {
    const n = stop - start;
    if (n < 2 || n > 40) return [];
    const codes = (labels ?? []).map((own) => {
      const label = own.find((one) => one >= start && one < stop);
      return label === undefined ? -1 : label - start;
    });
    const counts = new Uint32Array(n + 1);
    for (const code of codes) counts[code < 0 ? n : code]++;
    const legend = (/** @type {boolean} */ dark) => {
      const palette = groupPalette(n, dark);
      const items = Array.from(palette, (colour, i) => ({
        colour,
        text: `${names?.[start + i] || "(empty)"}: ${integer(counts[i])}`,
      }));
      return counts[n] ? [...items, without("label", counts[n], dark)] : items;
    };
    const colours = (/** @type {boolean} */ dark) =>
      categoricalColours(codes, groupPalette(n, dark), dark);
    return [{ value: `label ${c}`, text: name, colours, legend }];
  });
}

/** @param {Documents} documents @returns {Colouring[]} */
function dateColouring({ date }) {
  const days = date?.map((one) => (one ? Date.parse(one) : NaN)) ?? [];
  const n = days.filter((day) => Number.isNaN(day)).length;
  if (n === days.length) return [];
  const [first, last] = ends(days);
  const dayOf = (/** @type {number} */ share) =>
    new Date(first + share * (last - first)).toISOString().slice(0, 10);
  const legend = (/** @type {boolean} */ dark) => {
    const items = (first < last ? [0, 0.5, 1] : [0]).map((share) => ({
      colour: scaleColour(share, dark),
      text: dayOf(share),
    }));
    return n ? [...items, without("date", n, dark)] : items;
  };
  const colours = (/** @type {boolean} */ dark) => sequentialColours(days, { dark });
  return [{ value: "date", text: "date", colours, legend }];
}

// In the words of the list of documents, with as many documents.
/** @param {Content} content @param {Documents} documents @returns {Colouring[]} */
function sureColouring(content, documents) {
  if (!documents.runner_up) return [];
  const counts = countSure(content, documents, documents.id.keys());
  const shown = SURE_ORDER.filter((one) => counts[one]);
  const legend = (/** @type {boolean} */ dark) =>
    shown.map((one) => ({
      colour: sureColour(one, dark),
      text: `${SURE_NAMES[one]}: ${integer(counts[one])}`,
    }));
  const colours = (/** @type {boolean} */ dark) =>
    Uint32Array.from(documents.id, (_, i) => sureColour(sureOf(content, documents, i), dark));
  return [{ value: "sure", text: "how sure", colours, legend }];
}

/** @param {string} what @param {number} n @param {boolean} dark */
function without(what, n, dark) {
  return { colour: dark ? NOTHING.dark : NOTHING.light, text: `no ${what}: ${integer(n)}` };
}

/** @param {LegendItem[]} items */
export function legendLines(items) {
  return items.map(({ colour, text }) => {
    const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = hex(colour);
    return make("li", {}, swatch, bdi(text));
  });
}
