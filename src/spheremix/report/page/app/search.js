// The search box: words, groups and documents. What is chosen lights the map and the list.

import { anyCut, createSearch, nameOf } from "../documents/filters.js";
import { chooseGroup } from "../groups/grouping.js";
import { seenColour } from "../lib/colours.js";
import { bdi, debounced, find, make } from "../lib/dom.js";
import { atThisBeta, counted, countedRows, nounOf, shownOfAll } from "../lib/format.js";
import { showWord } from "../words/map.js";
import { sharers } from "../words/words.js";

/** @import { App, Content, Documents, Group, State } from "../types.d.ts" */

const WORDS = 5;
const GROUPS = 4;
const TITLES = 4;

/** @typedef {(text: string) => (i: number) => boolean} Search */
/** @typedef {{ pick: (action: () => void) => void, fill: (text: string) => void }} Parts */

/** @param {App} app */
export function mountSearch(app) {
  const { content, state } = app;
  const input = find("search");
  const box = find("found");
  const { documents } = content;
  // Nobody looks for a coordinate.
  const kinds = [
    ...(content.kind === "coordinates" ? [] : [`${nounOf(content)}s`]),
    "groups",
    ...(documents ? ["documents"] : []),
  ];
  const what = kinds.join(", ");
  input.placeholder = `Search ${what}`;
  input.setAttribute("aria-label", `Search ${what}`);
  input.title = "Key: /";
  const lowered = content.words.map((word) => word.toLowerCase());
  const search = documents && createSearch(documents);

  const close = () => {
    box.hidden = true;
    input.setAttribute("aria-expanded", "false");
  };
  // What this box put into the filter of texts leaves it with this box.
  let filled = "";
  /** @type {Parts} */
  const parts = {
    pick: (action) => {
      close();
      action();
    },
    fill: (text) => {
      filled = text;
      state.set({ text, scope: "all", list: "all" });
    },
  };
  const empty = () => {
    if (filled && state.now.text === filled) state.set({ text: "" });
    filled = "";
    close();
  };
  const look = () => {
    const asked = input.value.trim();
    const wanted = asked.toLowerCase();
    if (!wanted) {
      empty();
      return;
    }
    const words =
      content.kind === "coordinates" ? [] : matchingWords(lowered, wanted, content.forms);
    const options = [
      ...words.slice(0, WORDS).map((j) => wordOption(app, j, parts)),
      ...matchingGroups(app.groups().listed, wanted)
        .slice(0, GROUPS)
        .map((group) => groupOption(app, group, parts)),
    ];
    if (!options.length && kinds[0] !== "groups")
      options.push(make("li", { class: "soft", text: noMatch(content) }));
    if (documents && search) options.push(...documentOptions(app, documents, asked, search, parts));
    box.replaceChildren(...options);
    box.hidden = false;
    input.setAttribute("aria-expanded", "true");
  };

  input.addEventListener("input", debounced(120, look));
  input.addEventListener("focus", look);
  input.addEventListener("blur", () => setTimeout(close, 150));
  input.addEventListener("keydown", (event) => onKey(event, { input, box, look, empty, state }));
}

/**
 * Return the word of this form in the texts, those that begin with it, then those that contain it.
 * @param {string[]} lowered @param {string} wanted @param {Map<string, number> | null} forms
 */
export function matchingWords(lowered, wanted, forms) {
  /** @type {number[]} */
  const begin = [];
  /** @type {number[]} */
  const contain = [];
  lowered.forEach((word, j) => {
    if (word.startsWith(wanted)) begin.push(j);
    else if (wanted.length > 2 && word.includes(wanted)) contain.push(j);
  });
  begin.sort((a, b) => lowered[a].length - lowered[b].length);
  const form = forms?.get(wanted);
  return [...new Set([...(form === undefined ? [] : [form]), ...begin, ...contain])];
}

/**
 * Return the groups whose names have the text, then those one of whose words begins with it.
 * @param {Group[]} groups @param {string} wanted
 */
export function matchingGroups(groups, wanted) {
  const named = groups.filter((group) => group.name().toLowerCase().includes(wanted));
  const others = groups.filter(
    (group) =>
      !named.includes(group) && group.words.some((word) => word.toLowerCase().startsWith(wanted)),
  );
  return [...named, ...others];
}

/** @param {Content} content */
function noMatch(content) {
  const shown = shownOfAll(content);
  const none = `No ${nounOf(content)} begins with this`;
  return shown ? `${none}; the report shows ${shown}.` : `${none}.`;
}

/**
 * @param {string} kind @param {(HTMLElement | string)[]} first @param {string} note
 * @param {() => void} click
 */
function option(kind, first, note, click) {
  return make(
    "li",
    { role: "option", class: kind, on: { click } },
    make("span", {}, ...first),
    make("span", { class: "soft" }, bdi(note)),
  );
}

/** @param {App} app @param {number} j @param {Parts} parts */
function wordOption(app, j, { pick }) {
  const { content, state, stepOf } = app;
  const step = stepOf(state.now.step);
  const having = sharers(step, j);
  const where =
    having.length === 1
      ? content.names[having[0]]
      : having.length
        ? `${having.length} of ${counted(step.K, "group")}`
        : `no group${atThisBeta(content)}`;
  const show = () => {
    showWord(app, j);
    state.set({ scope: "all", list: "all" });
  };
  return option("found-word", [bdi(content.words[j], { class: "strong" })], where, () =>
    pick(show),
  );
}

/** @param {App} app @param {Group} group @param {Parts} parts */
function groupOption({ state, groups }, group, { pick }) {
  const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
  swatch.style.background = seenColour(group.colour);
  const size = countedRows(Math.round(group.size));
  return option("found-group", [swatch, bdi(group.name())], `group, ${size}`, () =>
    pick(() => chooseGroup(state, groups(), group.id)),
  );
}

// Return how many documents have the text, and some whose names have it.
/**
 * @param {App} app @param {Documents} documents @param {string} text @param {Search} search
 * @param {Parts} parts
 */
function documentOptions(app, documents, text, search, { pick, fill }) {
  const test = search(text);
  const found = [...documents.id.keys()].filter(test);
  const wanted = text.toLowerCase();
  const titled = found.filter((i) =>
    `${nameOf(documents, i)}\n${documents.id[i]}`.toLowerCase().includes(wanted),
  );
  const all = make(
    "li",
    { role: "option", class: "found-documents", on: { click: () => pick(() => fill(text)) } },
    make(
      "span",
      {},
      `${countedRows(found.length)} with `,
      bdi(`“${text}”`),
      anyCut(documents) ? " in the texts, as far as this report has them" : null,
    ),
  );
  const { state, groups } = app;
  const open = (/** @type {number} */ i) => () =>
    pick(() => chooseGroup(state, groups(), groups().labels[i], { document: i }));
  return [
    all,
    ...titled
      .slice(0, TITLES)
      .map((i) =>
        option("found-document", [bdi(nameOf(documents, i))], groupName(app, i), open(i)),
      ),
  ];
}

/** @param {App} app @param {number} i */
function groupName({ groups }, i) {
  return groups().byId.get(groups().labels[i])?.name() ?? "";
}

/**
 * @param {KeyboardEvent} event
 * @param {{ input: HTMLInputElement, box: HTMLElement, look: () => void, empty: () => void,
 *   state: State }} parts
 */
function onKey(event, { input, box, look, empty, state }) {
  const options = [...box.querySelectorAll("li")].filter((one) => one.role === "option");
  const at = options.findIndex((one) => one.getAttribute("aria-selected") === "true");
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const to = event.key === "ArrowDown" ? at + 1 : Math.max(at, 0) - 1;
    const next = options[(to + options.length) % options.length];
    options.forEach((one) => one.setAttribute("aria-selected", String(one === next)));
  } else if (event.key === "Enter") {
    event.preventDefault();
    // What is listed may be of an earlier text, while the box is hidden or typing goes on.
    if (box.hidden || at < 0) look();
    const listed = [...box.querySelectorAll("li")].filter((one) => one.role === "option");
    listed[Math.max(0, at)]?.click();
  } else if (event.key === "Escape") {
    input.value = "";
    empty();
    state.set({ word: -1 });
    input.blur();
  }
}
