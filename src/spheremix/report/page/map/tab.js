// The tab of the map of documents: colours and their legend, labels of groups, what is chosen on it.

import { createSearch, listDocuments, listedIds, nameOf } from "../documents/filters.js";
import {
  certaintyText,
  countSure,
  SURE_NAMES,
  SURE_ORDER,
  sureOf,
  sureScope,
} from "../groups/certainty.js";
import { chooseGroup, isNowhere } from "../groups/grouping.js";
import {
  categoricalColours,
  ends,
  groupPalette,
  hex,
  NOTHING,
  scaleColour,
  seenColour,
  sequentialColours,
  sureColour,
} from "../lib/colours.js";
import { bdi, find, make } from "../lib/dom.js";
import { integer } from "../lib/format.js";
import { groupContours } from "./contours.js";
import { groupLabels } from "./labels.js";
import { createDocumentMap } from "./map.js";

/** @import { App, Colouring, Content, Documents, Group, Grouping, Lasso, LegendItem, State } from "../types.d.ts" */

/** @param {App} app */
export function mountMapTab(app) {
  const { content, state } = app;
  const { layout, documents } = content;
  const panel = find("document-map");
  if (!layout || !documents) return null;
  /** @type {Colouring[]} */
  const choices = [
    // The names on the map are the legend of this one.
    { value: "group", text: "group", colours: () => byGroup(app.groups()), legend: () => [] },
    ...colourings(content, documents),
  ];
  let colouring = choices[0];
  let mounted = false;
  const select = make("select", { id: "map-colour", "aria-label": "Colour of the points" });
  select.append(...choices.map(({ value, text }) => make("option", { value, text })));
  const map = createDocumentMap({
    x: layout.x,
    y: layout.y,
    colours: colouring.colours(isDark()),
    labels: labelsOf(app, app.groups(), true),
    describe: (/** @type {number} */ i) => {
      // Certainty is about the groups of the model, which may not be those that are shown.
      const hidden = isNowhere(content, documents, i) || sureScope(content, state.now);
      const sure = hidden ? "" : `, ${certaintyText(content, documents, i)}`;
      return `${nameOf(documents, i)}: ${groupName(app, i)}${sure}`;
    },
    onSelect: (/** @type {number} */ i) => {
      const { scope } = state.now; // a document is chosen: others that are listed stay so
      if (i >= 0) chooseGroup(state, app.groups(), app.groups().labels[i], { document: i, scope });
    },
    onName: (/** @type {number} */ id) => chooseGroup(state, app.groups(), id),
    onLasso: (/** @type {Uint32Array} */ ids) => app.lasso.set(ids),
    onReset: () => standOut(false),
  });
  const bar = make("label", { class: "map-bar" }, "colour: ", select);
  const legend = make("ul", { class: "map-legend", "aria-label": "Colours of the points" });
  panel.replaceChildren(map.element, bar, legend);
  const colour = () => {
    map.setColours(colouring.colours(isDark()));
    const lines = legendLines(colouring.legend(isDark()));
    const scope = sureScope(content, state.now);
    if (colouring.value === "sure" && scope)
      lines.push(make("li", { class: "soft", text: `how sure is told ${scope}` }));
    legend.replaceChildren(...lines);
    legend.hidden = !lines.length;
  };
  colour();
  const name = () => map.setLabels(labelsOf(app, app.groups(), colouring === choices[0]));
  select.addEventListener("change", () => {
    colouring = choices.find(({ value }) => value === select.value) ?? choices[0];
    colour();
    name();
  });
  // The group that was asked for stands out; at first, and once all documents are asked for, none.
  let stands = false;
  const standOut = (/** @type {boolean} */ on) => {
    if (!on && !stands) return;
    stands = on;
    const ids = listedIds(state.now, app.edits);
    const mask = () => perDocument(Uint8Array, app.groups(), ({ id }) => Number(ids.includes(id)));
    map.setChosen(on ? mask() : null, ids);
  };
  let { cut } = state.now;
  state.follow(["group", "node"], () => {
    if (mounted && state.now.cut === cut) standOut(true);
  });
  mounted = true;
  // Out of sight, nothing is done until the map is looked at, or saved.
  let stale = false;
  const catchUp = () => {
    if (!stale) return;
    stale = false;
    colour();
    name();
    standOut(stands);
  };
  state.followAtRest(["step", "cut", "edited"], () => {
    cut = state.now.cut;
    stale = true;
    if (state.now.tab === "map") catchUp();
  });
  state.follow(["document"], () => map.select(state.now.document));
  state.follow(["tab"], () => {
    if (state.now.tab !== "map") return;
    catchUp();
    map.resize();
  });
  const search = createSearch(documents);
  state.follow(["sure", "text", "label", "from", "to"], () => {
    const { sure, text, label, from, to } = state.now;
    if (!sure && !text && label < 0 && !from && !to) {
      map.setHighlighted(null);
      return;
    }
    const mask = new Uint8Array(documents.id.length);
    const now = { ...state.now, scope: /** @type {const} */ ("all"), rival: -1 };
    for (const i of listDocuments(documents, app.groups(), now, search, content)) mask[i] = 1;
    map.setHighlighted(mask);
  });
  const recolour = () => {
    map.refresh();
    colour();
    name();
  };
  const saved = (/** @type {() => void} */ save) => () => {
    catchUp();
    save();
  };
  return { recolour, saveSvg: saved(map.saveSvg), savePng: saved(map.savePng) };
}

function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

/** @param {App} app @param {number} i */
function groupName(app, i) {
  const { byId, labels } = app.groups();
  return byId.get(labels[i])?.name() ?? "";
}

// Return one label a group, at the middle of its documents, with the lines around them, in its colour
// where points have those.
/** @param {App} app @param {Grouping} grouping @param {boolean} coloured */
function labelsOf({ content }, grouping, coloured) {
  const { groups } = grouping;
  const codes = perDocument(Int32Array, grouping, (group) => groups.indexOf(group));
  if (!content.layout) return [];
  const names = groups.map((group) => group.name());
  const contours = groupContours(content.layout, codes, groups.length);
  return groupLabels(content.layout, codes, names).map(({ at, ...label }) => ({
    ...label,
    group: groups[at].id,
    contour: contours[at],
    colour: coloured ? seenColour(groups[at].colour) : undefined,
  }));
}

/** Return the colours of the list of groups. @param {Grouping} grouping */
function byGroup(grouping) {
  return perDocument(Uint32Array, grouping, ({ colour }) =>
    Number.parseInt(seenColour(colour).slice(1), 16),
  );
}

/**
 * Return a number for each document, by its group.
 * @template {Uint8Array | Uint32Array | Int32Array} A
 * @param {new (n: number) => A} Values @param {Grouping} grouping
 * @param {(group: Group) => number} numberOf
 */
function perDocument(Values, { listed, labels }, numberOf) {
  const known = new Values(Math.max(...listed.map(({ id }) => id)) + 1);
  for (const group of listed) known[group.id] = numberOf(group);
  const values = new Values(labels.length);
  for (let i = 0; i < labels.length; i++) values[i] = known[labels[i]];
  return values;
}

// What the colours of the map of documents can mean, and the legend that says it.

// Return colourings by the labels of each column, by date, by how sure it is: whatever there is.
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
  const colours = (/** @type {boolean} */ dark) => sequentialColours(days, dark);
  return [{ value: "date", text: "date", colours, legend }];
}

// Return the colouring in the words of the list of documents, with as many documents.
/** @param {Content} content @param {Documents} documents @returns {Colouring[]} */
function sureColouring(content, documents) {
  if (!documents.second_group) return [];
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

// Documents that are drawn around on the map: only they are listed, until the line is cleared.

/** @param {State} state @returns {Lasso} */
export function createLasso(state) {
  /** @type {Lasso} */
  const lasso = {
    has: null,
    set: (ids) => {
      const inside = new Set(Array.from(ids));
      lasso.has = inside.size ? (i) => inside.has(i) : null;
      state.set({ lassoed: inside.size, ...(inside.size && { scope: "all" }) });
    },
  };
  return lasso;
}
