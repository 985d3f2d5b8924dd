// Words of a group as bars; and what sets two groups apart, on one scale for all groups.

import { UNSTABLE, ofSamples, wordStability } from "../groups/certainty.js";
import { seenColour } from "../lib/colours.js";
import { barOf, bdi, make, rove, softLine, tableOf, textButton } from "../lib/dom.js";
import { atThisBeta, decimal, nounOf } from "../lib/format.js";
import { showWord } from "./map.js";
import { roleOf, sharers } from "./words.js";

/** @import { App, Content, Role, Step } from "../types.d.ts" */

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
export function commonScale(step) {
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
      title: "Drop this word (Delete): note it in the edits",
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

// Return the words whose weights differ most, those of one group first, then those of the other.
/** @param {Step} step @param {number} k @param {number} other */
export function apart(step, k, other) {
  const words = Array.from({ length: step.W }, (_, j) => j).filter(
    (j) => step.levels[k * step.W + j] !== 0 || step.levels[other * step.W + j] !== 0,
  );
  const difference = (/** @type {number} */ j) => step.weight(k, j) - step.weight(other, j);
  words.sort((a, b) => difference(b) - difference(a) || a - b);
  const here = words.filter((j) => difference(j) > 0).slice(0, SHOWN);
  const there = words
    .filter((j) => difference(j) < 0)
    .reverse()
    .slice(0, SHOWN);
  return { here, there };
}

/**
 * @param {App} app @param {Step} step @param {number} k @param {number} other
 * @param {number} scale
 */
export function comparison(app, step, k, other, scale) {
  const { here, there } = apart(step, k, other);
  const { names } = app.content;
  const row = (/** @type {number} */ j) =>
    make(
      "tr",
      {},
      make("td", { class: "left" }, weightBar(step.weight(other, j), scale)),
      make(
        "th",
        { scope: "row" },
        textButton(bdi(app.content.words[j]), () => showWord(app, j)),
      ),
      make("td", {}, weightBar(step.weight(k, j), scale)),
    );
  const head = [
    make("th", { scope: "col", class: "left" }, bdi(names[other], { title: names[other] })),
    make("td", {}),
    make("th", { scope: "col" }, bdi(names[k], { title: names[k] })),
  ];
  const table = tableOf("compared", head, [...here, ...there].map(row));
  const rival = app.groups().byId.get(other);
  if (rival) table.style.setProperty("--rival", seenColour(rival.colour));
  return table;
}
