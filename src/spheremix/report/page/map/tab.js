// The tab of the map of documents: colours and their legend, labels of groups, what is chosen on it.

import {
  createSearch,
  filterDocuments,
  firstLine,
  isFiltered,
  nameOf,
} from "../documents/filters.js";
import {
  certaintyText,
  countSure,
  SURE_NAMES,
  SURE_ORDER,
  sureOf,
  sureScope,
} from "../groups/certainty.js";
import { chooseGroup, chosenId, isNowhere } from "../groups/grouping.js";
import { readTree } from "../groups/tree.js";
import {
  categoricalColours,
  ends,
  hex,
  labelPalette,
  NOTHING,
  scaleColour,
  seenColour,
  sequentialColours,
  sureColour,
} from "../lib/colours.js";
import { bdi, find, make, selectOf } from "../lib/dom.js";
import { integer } from "../lib/format.js";
import { passagesOf } from "../documents/passages.js";
import { groupContours } from "./contours.js";
import { groupLabels, labelOf, membersOf } from "./labels.js";
import { createDocumentMap } from "./map.js";
import { pointsInside } from "./view.js";

/** @import { App, Colouring, Content, Documents, Group, Grouping, Lasso, LegendItem, MapLabel, State } from "../types.d.ts" */

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
  const chosen = () => choices.find(({ value }) => value === state.now.colour) ?? choices[0];
  let colouring = chosen();
  let mounted = false;
  const select = selectOf(
    "map-colour",
    "Colour of the points",
    choices.map(({ value, text }) => [value, text]),
    (value) => state.set({ colour: value }),
  );
  const map = createDocumentMap({
    x: layout.x,
    y: layout.y,
    colours: colouring.colours(isDark()),
    labels: labelsOf(app, app.groups(), true),
    describe: (/** @type {number} */ i) => {
      // Certainty is about the groups of the model, which may not be those that are shown.
      const hidden = isNowhere(content, documents, i) || sureScope(content, state.now);
      const sure = hidden ? "" : `, ${certaintyText(content, documents, i)}`;
      return {
        title: nameOf(documents, i),
        line: beginning(documents, i),
        note: `${groupName(app, i)}${sure}`,
      };
    },
    beside: (/** @type {number} */ i) => {
      if (!documents.passages) return [];
      const { first, end } = passagesOf(documents.passages, i);
      return Array.from({ length: end - first }, (_, at) => first + at).filter((j) => j !== i);
    },
    onSelect: (/** @type {number} */ i) => {
      const { scope } = state.now; // a document is chosen: others that are listed stay so
      if (i >= 0) chooseGroup(state, app.groups(), app.groups().labels[i], { document: i, scope });
    },
    onName: (/** @type {number} */ id) => chooseGroup(state, app.groups(), id),
    onLasso: (/** @type {[number, number][]} */ line) =>
      state.set({ lasso: lassoText(line), scope: "all", list: "all" }),
    onView: (/** @type {string} */ view) => state.set({ view }),
    onReset: () => standOut(false),
  });
  const bar = make("label", { class: "map-bar" }, "colour: ", select);
  const legend = make("ul", { class: "map-legend", "aria-label": "Colours of the points" });
  panel.replaceChildren(map.element, bar, legend);
  const about = () => (colouring === choices[0] ? "" : `colours: ${colouring.text}`);
  // Groups have no colours beside points that have others.
  state.follow(["tab", "colour"], () => {
    const others = state.now.tab === "map" && chosen() !== choices[0];
    document.body.classList.toggle("other-colours", others);
  });
  const colour = () => {
    map.setColours(colouring.colours(isDark()));
    const lines = legendLines(colouring.legend(isDark()));
    if (about()) lines.unshift(make("li", { class: "soft" }, bdi(about()), "; groups are grey"));
    const scope = sureScope(content, state.now);
    if (colouring.value === "sure" && scope)
      lines.push(make("li", { class: "soft", text: `how sure is told ${scope}` }));
    legend.replaceChildren(...lines);
    legend.hidden = !lines.length;
  };
  colour();
  const name = () => map.setLabels(labelsOf(app, app.groups(), colouring === choices[0]));
  state.follow(["colour"], () => {
    select.value = state.now.colour;
    if (colouring === chosen()) return;
    colouring = chosen();
    colour();
    name();
  });
  state.follow(["view"], () => map.setView(state.now.view));
  // The group that was asked for stands out; at first, and once all documents are asked for, none.
  let stands = false;
  const standOut = (/** @type {boolean} */ on) => {
    if (!on && !stands) return;
    stands = on;
    const own = chosenId(state.now);
    const mask = () => perDocument(Uint8Array, app.groups(), ({ id }) => Number(id === own));
    map.setChosen(on ? mask() : null, [own]);
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
  state.follow(["list", "text", "word", "label", "rival", "from", "to", "lasso"], () => {
    map.setLasso(app.lasso.line());
    const { list } = state.now;
    if (!isFiltered(state.now) && list !== "borderline") {
      map.setHighlighted(null);
      return;
    }
    const mask = new Uint8Array(documents.id.length);
    const now = { ...state.now, scope: /** @type {const} */ ("all") };
    const inside = app.lasso.has();
    for (const i of filterDocuments(documents, app.groups(), now, search, content, inside))
      if (list !== "borderline" || sureOf(content, documents, i) === list) mask[i] = 1;
    map.setHighlighted(mask);
  });
  const recolour = () => {
    map.refresh();
    colour();
    name();
  };
  const { zoom, pan, showAll, print } = map;
  return {
    ...{ recolour, zoom, pan, showAll, print, about },
    figure: () => {
      catchUp();
      return map.figure();
    },
    legend: () =>
      colouring.legend(isDark()).map((item) => ({ colour: hex(item.colour), text: item.text })),
  };
}

function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

const LINE = 140; // characters of a text under the pointer

/** Return how the text goes on after the name. @param {Documents} documents @param {number} i */
function beginning({ title, text }, i) {
  const whole = text?.[i] ?? "";
  const line = title?.[i] ? whole : firstLine(whole).rest;
  const short = line
    .slice(0, 2 * LINE)
    .replace(/\s+/gu, " ")
    .trim();
  return short.length > LINE ? `${short.slice(0, LINE).replace(/\s+\S*$/u, "")} …` : short;
}

/** @param {App} app @param {number} i */
function groupName(app, i) {
  const { byId, labels } = app.groups();
  return byId.get(labels[i])?.name() ?? "";
}

// Return one label a group, at the middle of its documents, with the lines around them, in its colour
// where points have those; and the names of its parts along the tree, for those who zoom in.
/** @param {App} app @param {Grouping} grouping @param {boolean} coloured @returns {MapLabel[]} */
function labelsOf({ content }, grouping, coloured) {
  const { groups } = grouping;
  const { layout } = content;
  const codes = perDocument(Int32Array, grouping, (group) => groups.indexOf(group));
  if (!layout) return [];
  const names = groups.map((group) => group.name());
  const contours = groupContours(layout, codes, groups.length);
  const colourOf = (/** @type {Group} */ { colour }) => (coloured ? seenColour(colour) : undefined);
  const whole = groupLabels(layout, codes, names).map(({ at, ...label }) => ({
    ...label,
    group: groups[at].id,
    contour: contours[at],
    colour: colourOf(groups[at]),
  }));
  const parts = partsOf(content, grouping).flatMap(({ ids, text, group, from, until }) => {
    const label = labelOf(layout, ids, text);
    return label ? [{ ...label, from, until, group: group.id, colour: colourOf(group) }] : [];
  });
  return [...whole, ...parts];
}

const FEWEST = 3; // documents of a part that has a name

/**
 * Return the nodes of the tree below the groups, each with its documents, and how near one sees its name:
 * twice as near, twice as many groups.
 * @param {Pick<Content, "tree" | "documents">} content @param {Grouping} grouping
 * @returns {{ ids: number[], text: string, group: Group, from: number, until: number }[]}
 */
export function partsOf({ tree, documents }, { groups, byId, labels }) {
  const leaf = documents?.leaf;
  if (!tree || !leaf || groups.length < 2) return [];
  const members = membersOf(leaf, tree.leaves);
  const { leavesOf } = readTree(tree);
  const n = tree.parents.length + 1;
  return tree.parents.flatMap((parent, node) => {
    const ids = leavesOf(node).flatMap((one) => members[one]);
    const group = byId.get(labels[ids[0]]);
    const from = (n - parent) / groups.length;
    const until = node < tree.leaves ? Infinity : (n - node) / groups.length;
    const first = ids[ids.length - 1];
    const isPart = group && labels[first] === group.id && ids.length < group.size;
    if (parent < 0 || from <= 1 || ids.length < FEWEST || !isPart) return [];
    const own = tree.sibling_words[node].slice(0, 2).join(" ");
    return [{ ids, text: own || tree.names[node], group, from, until }];
  });
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

/** Return what points can be coloured by. @param {Content} content @param {Documents} documents */
export function colourNames(content, documents) {
  return ["group", ...colourings(content, documents).map(({ value }) => value)];
}

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
      const palette = labelPalette(n, dark);
      const items = Array.from(palette, (colour, i) => ({
        colour,
        text: `${names?.[start + i] || "(empty)"}: ${integer(counts[i])}`,
      }));
      return counts[n] ? [...items, without("label", counts[n], dark)] : items;
    };
    const colours = (/** @type {boolean} */ dark) =>
      categoricalColours(codes, labelPalette(n, dark), dark);
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

// Documents that are drawn around on the map: only they are listed, until the line is taken away.

const CORNERS = 48;
// A line may leave the map a little: its places are ten-thousandths of this stretch.
const [FROM, STRETCH] = [-0.2, 1.4];

/** Return a line as the address has it. @param {[number, number][]} line */
export function lassoText(line) {
  const every = Math.ceil(line.length / CORNERS);
  const place = (/** @type {number} */ value) =>
    Math.min(9999, Math.max(0, Math.round((9999 * (value - FROM)) / STRETCH)));
  const kept = line.filter((_, i) => i % every === 0);
  return kept.length > 2 ? kept.map((corner) => corner.map(place).join()).join() : "";
}

/** @param {string} text @returns {[number, number][] | null} */
export function lassoLine(text) {
  if (!text) return null;
  const places = text.split(",").map((one) => (Number(one) / 9999) * STRETCH + FROM);
  return Array.from({ length: places.length >> 1 }, (_, i) => [places[2 * i], places[2 * i + 1]]);
}

/** @param {Pick<Content, "layout">} content @param {State} state @returns {Lasso} */
export function createLasso({ layout }, state) {
  let text = "";
  /** @type {Uint8Array} */
  let inside = new Uint8Array(0);
  const line = () => lassoLine(state.now.lasso);
  return {
    line,
    has: () => {
      const around = line();
      if (!around || !layout) return null;
      if (state.now.lasso !== text) {
        text = state.now.lasso;
        inside = pointsInside(around, layout);
      }
      return (i) => inside[i] === 1;
    },
  };
}
