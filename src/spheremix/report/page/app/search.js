// The search box: words to show on the map, and how many documents have the text.

import { anyCut, createSearch } from "../documents/filters.js";
import { bdi, debounced, find, make } from "../lib/dom.js";
import { atThisBeta, counted, countedRows, nounOf, shownOfAll } from "../lib/format.js";
import { showWord } from "../words/map.js";
import { sharers } from "../words/words.js";

/** @import { App, Content, Documents, State } from "../types.d.ts" */

const SHOWN = 8;

/** @param {App} app */
export function mountSearch(app) {
  const { content, state } = app;
  const input = find("search");
  const box = find("found");
  // Nobody looks for a coordinate: with texts, those are searched.
  const inTexts = content.kind === "coordinates" && Boolean(content.documents?.text);
  const what = inTexts ? "the texts" : `a ${nounOf(content)}`;
  input.placeholder = `search ${what}  /`;
  input.setAttribute("aria-label", `Search ${what}`);
  const lowered = content.words.map((word) => word.toLowerCase());
  const { documents } = content;
  const search = documents && createSearch(documents);

  const close = () => {
    box.hidden = true;
    input.setAttribute("aria-expanded", "false");
  };
  const pick = (/** @type {() => void} */ action) => {
    close();
    action();
  };
  // What this box put into the search for documents leaves it with this box.
  let filled = "";
  const fill = (/** @type {string} */ text) => {
    filled = text;
    state.set({ text, scope: "all" });
  };
  const empty = () => {
    if (filled && state.now.text === filled) state.set({ text: "" });
    filled = "";
    close();
  };
  const look = () => {
    const wanted = input.value.trim().toLowerCase();
    if (!wanted) {
      empty();
      return;
    }
    const words = matchingWords(lowered, wanted, content.forms);
    const options = words.slice(0, SHOWN).map((j) => wordOption(app, j, pick));
    if (!words.length && !inTexts)
      options.push(
        make("li", {
          class: "soft",
          text: noMatch(content),
        }),
      );
    if (documents && search)
      options.push(documentsOption(documents, input.value.trim(), search, pick, fill));
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

/** @param {Content} content */
function noMatch(content) {
  const shown = shownOfAll(content);
  const none = `No ${nounOf(content)} begins with this`;
  return shown ? `${none}; the report shows ${shown}.` : `${none}.`;
}

/** @param {App} app @param {number} j @param {(action: () => void) => void} pick */
function wordOption(app, j, pick) {
  const { content, state, stepOf } = app;
  const step = stepOf(state.now.step);
  const having = sharers(step, j);
  const where =
    having.length === 1
      ? content.names[having[0]]
      : having.length
        ? `${having.length} of ${counted(step.K, "group")}`
        : `no group${atThisBeta(content)}`;
  const click = () => pick(() => showWord(app, j));
  return make(
    "li",
    { role: "option", on: { click } },
    bdi(content.words[j], { class: "strong" }),
    make("span", { class: "soft" }, bdi(where)),
  );
}

/**
 * @param {Documents} documents @param {string} text
 * @param {(text: string) => (i: number) => boolean} search
 * @param {(action: () => void) => void} pick @param {(text: string) => void} fill
 */
function documentsOption(documents, text, search, pick, fill) {
  const test = search(text);
  const n = documents.id.filter((_, i) => test(i)).length;
  const click = () =>
    pick(() => {
      fill(text);
      find("documents").scrollIntoView({ block: "start" });
    });
  return make(
    "li",
    { role: "option", on: { click } },
    `${countedRows(n)} with `,
    bdi(`“${text}”`),
    anyCut(documents) ? " in the texts, as far as this report has them" : null,
  );
}

/**
 * @param {KeyboardEvent} event
 * @param {{ input: HTMLInputElement, box: HTMLElement, look: () => void, empty: () => void,
 *   state: State }} parts
 */
function onKey(event, { input, box, look, empty, state }) {
  const options = [...box.querySelectorAll("li")].filter((one) => one.role === "option");
  const at = options.findIndex((option) => option.getAttribute("aria-selected") === "true");
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const to = event.key === "ArrowDown" ? at + 1 : Math.max(at, 0) - 1;
    const next = options[(to + options.length) % options.length];
    options.forEach((option) => option.setAttribute("aria-selected", String(option === next)));
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
