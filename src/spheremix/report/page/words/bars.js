// Words of a group as bars; and what sets two groups apart, on one scale for all groups.

import { UNSTABLE, ofSamples, wordStability } from "../groups/certainty.js";
import { seenColour } from "../lib/colours.js";
import { barOf, bdi, make, part, rove, softLine, tableOf, textButton } from "../lib/dom.js";
import { atThisBeta, decimal, nounOf } from "../lib/format.js";
import { showWord } from "./map.js";
import { shownWords } from "./shown.js";
import { roleOf, sharers } from "./words.js";

/** @import { App, Content, Group, Role, Step } from "../types.d.ts" */

/** @type {Record<Role, string>} */
const ROLES = {
  own: "only in this group",
  shared: "also in some other groups",
  common: "in every group",
  other: "in other groups",
  none: "in no group",
};

const ROW = 19; // pixels of a word and its bar, as in the style sheet

/** @type {WeakMap<Step, number>} */
const scales = new WeakMap();

// Return the largest weight of a group, which fills the width.
/** @param {Step} step @param {number} k */
export function ownScale(step, k) {
  let largest = 0;
  for (let j = 0; j < step.W; j++) largest = Math.max(largest, Math.abs(step.weight(k, j)));
  return largest || 1;
}

// Return the largest weight of any group, so that the bars of two groups can be compared.
/** @param {Step} step */
function commonScale(step) {
  const known = scales.get(step);
  if (known) return known;
  let largest = 0;
  for (let k = 0; k < step.K; k++)
    for (let j = 0; j < step.W; j++) largest = Math.max(largest, Math.abs(step.weight(k, j)));
  scales.set(step, largest || 1);
  return largest || 1;
}

/**
 * @param {App} app @param {Step} step @param {number} k @param {number[]} words
 * @param {number} scale @param {((j: number) => void) | null} hide
 * @param {boolean} wide whether bars have the whole width, below each other
 */
export function wordBars(app, step, k, words, scale, hide, wide = false) {
  if (!words.length) return softLine(`None${atThisBeta(app.content)}.`);
  const bars = words.map((j) => wordBar(app, step, k, j, scale, hide));
  return rove(inRows(bars, wide), ".word");
}

/** @param {HTMLElement[]} bars @param {boolean} wide */
function inRows(bars, wide) {
  const list = make("ul", { class: wide ? "word-bars wide" : "word-bars" }, ...bars);
  list.style.gridTemplateRows = `repeat(${Math.ceil(bars.length / (wide ? 1 : 2))}, ${ROW}px)`;
  return list;
}

// Return words that are no coordinates of the model: those that set the texts of a group apart.
/** @param {[string, number][]} words each with its z @param {number} most of any group */
export function contrastBars(words, most) {
  return inRows(
    words.map(([word, z]) =>
      make(
        "li",
        { title: `z = ${decimal(z)}` },
        bdi(word, { class: "word" }),
        make("span", { class: "track" }, weightBar(z, most)),
      ),
    ),
    true,
  );
}

/**
 * @param {App} app @param {Step} step @param {number} k @param {number} j @param {number} scale
 * @param {((j: number) => void) | null} hide
 */
function wordBar(app, step, k, j, scale, hide) {
  const { content } = app;
  const role = roleOf(step, j, k);
  const button = make(
    "button",
    {
      type: "button",
      class: "word",
      title: wordTitle(content, step, k, j, role),
      on: {
        click: () => showWord(app, j),
        keydown: (event) => {
          if (event.key === "Delete") hide?.(j);
        },
      },
    },
    bdi(content.words[j]),
  );
  const drop =
    hide &&
    make("button", {
      type: "button",
      class: "hide",
      text: "×",
      tabindex: -1,
      title: "Drop this word from all groups (Delete)",
      "aria-label": `Drop the word ${content.words[j]}`,
      on: { click: () => hide(j) },
    });
  return make(
    "li",
    { class: `${role}${isWeak(content, step, k, j) ? " weak" : ""}` },
    button,
    make("span", { class: "track" }, weightBar(step.weight(k, j), scale)),
    drop,
  );
}

// Return whether a word comes back with its group in fewer than half of the redrawn samples.
/** @param {Pick<Content, "stability">} content @param {Step} step @param {number} k @param {number} j */
export function isWeak(content, step, k, j) {
  const stability = step.exact ? wordStability(content, k, j) : null;
  return stability !== null && stability < UNSTABLE;
}

/** @param {Pick<Content, "stability" | "kind">} content */
export function aboutItalics({ stability, kind }) {
  return make(
    "p",
    { class: "soft italics" },
    make("i", { text: "In italics" }),
    `: ${nounOf({ kind })}s that come back with the group in fewer than half of the ` +
      `${stability?.n_replicates ?? 0} redrawn samples.`,
  );
}

// Return the bar of a weight, of which something is seen, small as it may be.
/** @param {number} value @param {number} scale */
function weightBar(value, scale) {
  return barOf(Math.max(0.01, Math.abs(value) / scale), value < 0);
}

/**
 * @param {Content} content @param {Step} step @param {number} k @param {number} j
 * @param {Role} role
 */
export function wordTitle(content, step, k, j, role) {
  const exit = content.exit_betas ? content.exit_betas[k * step.W + j] : null;
  const leaves =
    exit === null
      ? ""
      : exit === Infinity
        ? "; kept to the end of the path"
        : `; dropped at β = ${decimal(exit)}`;
  const others = sharers(step, j)
    .filter((other) => other !== k)
    .map((other) => content.names[other]);
  const shared = role === "shared" ? `: ${others.join("; ")}` : "";
  const stability = step.exact ? wordStability(content, k, j) : null;
  const samples = content.stability?.n_replicates ?? 0;
  const found =
    stability === null ? "" : `; back with the group in ${ofSamples(stability, samples)}`;
  return `${ROLES[role]}${shared}; weight ${decimal(step.weight(k, j))}${leaves}${found}`;
}

const SHOWN = 9; // words of each side

/** @typedef {{ word: string, j: number, here: number, there: number }} Compared */

/**
 * Return the words that set two groups apart, those of one group first, then those of the other: weights where
 * they are known; of embeddings how much a word sets the texts of each apart; else whether it is listed.
 * @param {App} app @param {Group} own @param {Group} other
 * @returns {{ rows: Compared[], most: number, what: string, listed: boolean }}
 */
export function comparedWords(app, own, other) {
  const { contrast } = app.content;
  const { content, step, known, groupOf } = shownWords(app);
  if (known && !contrast) {
    const row = (/** @type {Group} */ { id }) => step.groups.find((k) => groupOf(k).id === id) ?? 0;
    const [k, l] = [row(own), row(other)];
    const words = Array.from({ length: step.W }, (_, j) => j).filter(
      (j) => step.levels[k * step.W + j] !== 0 || step.levels[l * step.W + j] !== 0,
    );
    const found = words.map((j) => {
      const [here, there] = [step.weight(k, j), step.weight(l, j)];
      return { word: content.words[j], j, here, there };
    });
    const what = `weights of ${nounOf(content)}s in both groups`;
    return { rows: farthest(found), most: commonScale(step), what, listed: false };
  }
  const fitted = contrast && own.whole >= 0 && other.whole >= 0;
  const [here, there] = [own, other].map(({ whole, words }) =>
    fitted
      ? new Map(contrast[whole])
      : new Map(words.map((word) => /** @type {[string, number]} */ ([word, 1]))),
  );
  const found = [...new Set([...here.keys(), ...there.keys()])].map((word) => ({
    ...{ word, j: app.content.words.indexOf(word) },
    ...{ here: here.get(word) ?? 0, there: there.get(word) ?? 0 },
  }));
  const rows = farthest(found.filter((one) => one.here !== one.there));
  const most = Math.max(...found.flatMap((one) => [one.here, one.there]), 1e-9);
  const what = fitted
    ? "how much words set the texts of each group apart; no bar: less than its other words"
    : "characteristic words of one of the two groups";
  return { rows, most, what, listed: !fitted };
}

/** Return the words that differ most. @param {Compared[]} words */
function farthest(words) {
  const difference = (/** @type {Compared} */ one) => one.here - one.there;
  const sorted = words.toSorted((a, b) => difference(b) - difference(a) || a.j - b.j);
  const here = sorted.filter((one) => difference(one) > 0).slice(0, SHOWN);
  const there = sorted.filter((one) => difference(one) < 0).toReversed();
  return [...here, ...there.slice(0, SHOWN)];
}

/** @param {App} app @param {Group} own @param {Group} other */
export function comparison(app, own, other) {
  const { rows, most, what, listed } = comparedWords(app, own, other);
  const bar = (/** @type {number} */ value) => (value ? weightBar(value, most) : null);
  const lines = rows.map(({ word, j, here, there }) => {
    const text = bdi(word);
    const name = j < 0 ? text : textButton(text, () => showWord(app, j));
    return make(
      "tr",
      {},
      make("td", { class: "left" }, bar(there)),
      make("th", { scope: "row" }, name),
      make("td", {}, bar(here)),
    );
  });
  const title = (/** @type {Group} */ group) => bdi(group.name(), { title: group.name() });
  const head = [
    make("th", { scope: "col", class: "left" }, title(other)),
    make("td", {}),
    make("th", { scope: "col" }, title(own)),
  ];
  const table = tableOf(listed ? "compared listed" : "compared", head, lines);
  table.style.setProperty("--rival", seenColour(other.colour));
  const none = "Of these groups only the documents are known.";
  return part("What sets them apart", what, rows.length ? table : softLine(none));
}
