// What each word adds to the score of a cluster, against what it adds to that of another.

import { bdi, make } from "./dom.js";
import { showWord } from "./word_line.js";
import { counted, decimal, integer, signed } from "./format.js";

/** @import { App, Rows, Step, Term } from "./types.d.ts" */

// kappa_k mu_kj x_j of both clusters, for the words kept of a document.
/**
 * @param {Rows} rows @param {Pick<Step, "entry" | "weight">} step @param {number} i
 * @param {number} k @param {number} rival
 * @returns {Term[]}
 */
export function contributionsOf(rows, step, i, k, rival) {
  const { kappas } = step.entry;
  const unit = rows.scale ? rows.scale[i] / 65535 : 1;
  const terms = [];
  for (let at = rows.indptr[i]; at < rows.indptr[i + 1]; at++) {
    const j = rows.words[at];
    const x = rows.values[at] * unit;
    const own = kappas[k] * step.weight(k, j) * x;
    const other = rival >= 0 ? kappas[rival] * step.weight(rival, j) * x : 0;
    if (own !== 0 || other !== 0) terms.push({ j, x, own, other, difference: own - other });
  }
  return terms.sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference) || a.j - b.j);
}

const SHOWN = 12;

// How many words of a document the report has, of how many; nothing where it has them all.
/** @param {Pick<Rows, "indptr" | "n_words">} rows @param {number} i */
export function keptWords({ indptr, n_words: totals }, i) {
  const kept = indptr[i + 1] - indptr[i];
  return kept < totals[i] ? `${integer(kept)} of the ${counted(totals[i], "different word")}` : "";
}

/**
 * @param {App} app @param {Term[]} terms @param {number | null} logOdds
 * @param {{ own: string, rival: string }} names @param {boolean} all @param {() => void} toggle
 */
export function contributionTable(app, terms, logOdds, names, all, toggle) {
  const shown = all ? terms : terms.slice(0, SHOWN);
  const largest = Math.max(
    ...terms.map(({ own, other }) => Math.max(Math.abs(own), Math.abs(other))),
    1e-9,
  );
  const body = make("tbody", {}, ...shown.map((term) => contributionRow(app, term, largest)));
  if (logOdds !== null && Number.isFinite(logOdds)) {
    const rest = logOdds - shown.reduce((sum, { difference }) => sum + difference, 0);
    body.append(
      totalRow("all other words, and the sizes of the groups", rest),
      totalRow("log-odds in this fit", logOdds, "total"),
    );
  }
  const head = make(
    "tr",
    {},
    make("th", { scope: "col", text: "word" }),
    make(
      "th",
      { scope: "col", class: "left" },
      names.rival ? bdi(names.rival, { title: names.rival }) : "",
    ),
    make("th", { scope: "col" }, bdi(names.own, { title: names.own })),
    make("th", { scope: "col", class: "number", text: names.rival ? "difference" : "score" }),
  );
  const button =
    terms.length > SHOWN
      ? make("button", {
          type: "button",
          class: "plain",
          text: all ? "show fewer words" : `show ${terms.length} words`,
          on: { click: toggle },
        })
      : null;
  return make(
    "div",
    {},
    make("table", { class: "contributions" }, make("thead", {}, head), body),
    button,
  );
}

/** @param {App} app @param {Term} term @param {number} largest */
function contributionRow(app, { j, own, other, difference }, largest) {
  const word = make(
    "button",
    {
      type: "button",
      class: "plain",
      title: "Show this word on the map",
      on: { click: () => showWord(app, j) },
    },
    bdi(app.content.words[j]),
  );
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, word),
    barCell(other, largest, "left"),
    barCell(own, largest, "right"),
    make("td", {
      class: "number",
      title: `${decimal(own)} against ${decimal(other)}`,
      text: signed(difference),
    }),
  );
}

/** @param {number} value @param {number} largest @param {string} side */
function barCell(value, largest, side) {
  const bar = make("span", { class: value < 0 ? "bar negative" : "bar" });
  bar.style.width = `${(100 * Math.abs(value)) / largest}%`;
  return make("td", { class: `bars ${side}` }, bar);
}

/** @param {string} text @param {number} value @param {string} name */
function totalRow(text, value, name = "rest") {
  return make(
    "tr",
    { class: name },
    make("th", { scope: "row", colspan: 3, text }),
    make("td", { class: "number", text: signed(value) }),
  );
}
