// The tab of the map of documents: colours, labels of groups, and what is chosen on it.

import { find, make } from "./dom.js";
import { createDocumentMap } from "./document_map.js";
import { groupLabels } from "./document_map_labels.js";
import { createSearch, listDocuments, listedIds, nameOf } from "./filters.js";
import { certaintyText, sureScope } from "./certainty.js";
import { colourings, legendLines } from "./map_colourings.js";
import { seenColour } from "./group_colours.js";
import { chooseGroup } from "./grouping.js";
import { isNowhere } from "./nowhere.js";

/** @import { App, Colouring, Group, Grouping } from "./types.d.ts" */

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
    map.setChosen(on ? mask() : null);
  };
  let { cut } = state.now;
  state.follow(["cluster", "node"], () => {
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

// One label a group, at the middle of its documents, with its colour where points have those.
/** @param {App} app @param {Grouping} grouping @param {boolean} coloured */
function labelsOf({ content }, grouping, coloured) {
  const { groups } = grouping;
  const codes = perDocument(Int32Array, grouping, (group) => groups.indexOf(group));
  const names = groups.map((group) => group.name());
  const colours = coloured ? groups.map(({ colour }) => seenColour(colour)) : [];
  return content.layout ? groupLabels(content.layout, codes, names, colours) : [];
}

// The colours of the list of groups.
/** @param {Grouping} grouping */
function byGroup(grouping) {
  return perDocument(Uint32Array, grouping, ({ colour }) =>
    Number.parseInt(seenColour(colour).slice(1), 16),
  );
}

// A number for each document, by its group.
/**
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
