// The word under the pointer: its values, and in how many groups it is.

import { bdi, make, present } from "../lib/dom.js";
import { counted, countedRows, decimal, nounOf } from "../lib/format.js";
import { sharers, wordCountText } from "./words.js";

/** @import { Content, Row, Step, Tooltip, View } from "../types.d.ts" */

const SHOWN = 12; // groups

/** @param {HTMLElement} frame @returns {Tooltip} */
export function createMapTooltip(frame) {
  const box = make("div", { class: "tooltip", role: "tooltip", id: "tooltip", hidden: true });
  frame.append(box);

  const hide = () => {
    box.hidden = true;
  };

  /** @type {Tooltip["show"]} */
  const show = (view, { row, place, head }, x, y) => {
    const { content } = view;
    if (place < 0 && row)
      box.replaceChildren(
        bdi(content.names[row.k], { class: "strong" }),
        rowFacts(content, view, row),
      );
    else if (place >= 0 && !head) box.replaceChildren(...wordFacts(content, view, row, place, x));
    else {
      hide();
      return;
    }
    box.hidden = false;
    const left = x + 14 + box.offsetWidth > view.width ? x - 14 - box.offsetWidth : x + 14;
    box.style.left = `${Math.max(0, left)}px`;
    box.style.top = `${Math.max(0, Math.min(y + 12, view.height - box.offsetHeight))}px`;
  };
  return { show, hide };
}

/** @param {Content} content @param {View} view @param {Row} row */
function rowFacts(content, { step }, { k }) {
  const size = countedRows(Math.round(step.entry.sizes[k]));
  return make("div", { text: `${size}, ${wordCountText(content, step, k)}` });
}

/**
 * @param {Content} content @param {View} view @param {Row | null} row @param {number} place
 * @param {number} x
 */
function wordFacts(content, view, row, place, x) {
  const { step } = view;
  const shown = heaviest(view, row, place, x);
  const j = step.order[shown.place];
  const having = sharers(step, j).sort(
    (a, b) => Math.abs(step.weight(b, j)) - Math.abs(step.weight(a, j)),
  );
  const lines = having.slice(0, SHOWN).map((k) => valueLine(content, step, k, j, having[0], row));
  const more = having.length - lines.length;
  return present([
    make(
      "div",
      {},
      bdi(content.words[j], { class: "strong" }),
      ` in ${having.length} of ${counted(step.K, "group")}`,
    ),
    ...lines,
    more > 0 ? make("div", { class: "soft", text: `and ${more} more` }) : null,
    shown.others > 0
      ? make("div", {
          class: "soft",
          text: `${counted(shown.others, `more ${nounOf(content)}`)} here; zoom in to see them`,
        })
      : null,
  ]);
}

// Return, of the words on one pixel, the one that is drawn there.
/** @param {View} view @param {Row | null} row @param {number} place @param {number} x */
function heaviest({ step, columns, scale }, row, place, x) {
  const stop = Math.min(
    step.W,
    Math.max(place + 1, Math.ceil(columns.place(x + 1 / scale) - 1e-6)),
  );
  let best = place;
  for (let i = place + 1; row && i < stop; i++) {
    const level = (/** @type {number} */ at) =>
      Math.abs(step.levels[row.k * step.W + step.order[at]]);
    if (level(i) > level(best)) best = i;
  }
  return { place: best, others: stop - place - 1 };
}

/**
 * @param {Content} content @param {Step} step @param {number} k @param {number} j
 * @param {number} first @param {Row | null} row
 */
function valueLine(content, step, k, j, first, row) {
  const value = step.weight(k, j);
  const bar = make("span", { class: value < 0 ? "bar negative" : "bar" });
  const share = Math.abs(value / step.weight(first, j));
  bar.style.width = `${Math.max(2, 60 * share)}px`;
  return make(
    "div",
    { class: row && row.k === k ? "value here" : "value" },
    make("span", { class: "number", text: decimal(value) }),
    bar,
    bdi(content.names[k]),
  );
}
