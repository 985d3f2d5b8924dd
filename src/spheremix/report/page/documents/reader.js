// One document: where it is and why, word by word, and its text with the words marked.

import { askTexts, isServed, runFolder } from "../edits/serve.js";
import { documentTools } from "../edits/tools.js";
import { placeOf } from "../groups/grouping.js";
import { readable, seenColour } from "../lib/colours.js";
import {
  barOf,
  bdi,
  createScroll,
  find,
  make,
  present,
  softLine,
  tableOf,
  textButton,
} from "../lib/dom.js";
import { counted, decimal, integer, signed } from "../lib/format.js";
import { showWord } from "../words/map.js";
import { roleOf } from "../words/words.js";
import { isCut, nameOf } from "./filters.js";
import { labelTags } from "./list.js";
import { passagesOf, shareBar, wholeText } from "./passages.js";
import { elsewhere, verdict } from "./verdict.js";

/** @import { App, Content, Documents, Rows, Step, Term } from "../types.d.ts" */

const LONG = 20_000; // characters shown before they are asked for

/** @typedef {{ text: boolean, words: boolean, table: boolean }} Open */

/** @param {App} app @param {{ move: (by: number) => void, listed: () => number[] }} list */
export function mountReader(app, list) {
  const { content, state, stepOf } = app;
  const { documents } = content;
  if (!documents) return;
  /** @type {Open} */
  const open = { text: false, words: false, table: false };
  const scroll = createScroll(find("reader-body"));
  const draw = () => {
    const i = state.now.document;
    const body = find("reader-body");
    document.body.classList.toggle("reading", i >= 0);
    const items = list.listed();
    const at = items.indexOf(i);
    find("reader-place").textContent =
      at < 0 ? "" : `${integer(at + 1)} of ${integer(items.length)}`;
    find("reader-before").toggleAttribute("disabled", at < 1);
    find("reader-after").toggleAttribute("disabled", at + 1 >= items.length);
    if (i < 0) {
      find("reader-name").replaceChildren("Reader");
      body.replaceChildren(softLine(`Choose a document in the list${orPress()}.`));
      return;
    }
    find("reader-name").replaceChildren(bdi(nameOf(documents, i)));
    body.replaceChildren(...documentParts(app, documents, stepOf(state.now.step), i, open, draw));
  };
  // Where the page has but the beginning of a text, the server has all of it.
  const complete = async (/** @type {number} */ i) => {
    const { passages, text, id } = documents;
    if (i < 0 || !text) return;
    const { first, end } = passages ? passagesOf(passages, i) : { first: i, end: i + 1 };
    const lacking = Array.from({ length: end - first }, (_, at) => first + at).filter((j) =>
      isCut(documents, j),
    );
    if (!lacking.length) return;
    const found = await askTexts(lacking.map((j) => id[j]));
    for (const j of lacking) text[j] = found.get(id[j]) ?? text[j];
    if (state.now.document === i) draw();
  };
  state.follow(["document"], () => {
    open.text = false;
    open.words = false;
    draw();
    scroll.to(0);
    if (isServed(location)) void complete(state.now.document);
  });
  state.followAtRest(
    ["step", "edited", "group", "node", "cut", "scope", "list", "sort", "theme"],
    draw,
  );
  find("reader-close").addEventListener("click", () => {
    state.set({ document: -1 });
    find("document-list").focus();
  });
  find("reader-before").addEventListener("click", () => list.move(-1));
  find("reader-after").addEventListener("click", () => list.move(1));
}

// Where there is a keyboard, as far as a page can tell.
function orPress() {
  return matchMedia("(hover: none)").matches ? "" : ", or press j";
}

/**
 * @param {App} app @param {Documents} documents @param {Step} step @param {number} i
 * @param {Open} open @param {() => void} draw
 */
function documentParts(app, documents, step, i, open, draw) {
  const { content } = app;
  const { k, rival } = placeOf(documents, step, i);
  const flip = (/** @type {keyof Open} */ key) => () => {
    open[key] = !open[key];
    draw();
  };
  colourReader(app, k, rival);
  return present([
    about(documents, i),
    whyWords(app, documents, step, i, k, rival),
    elsewhere(app, i),
    verdict(app, documents, step, i, step.labels[i]),
    shareBar(app, documents, i),
    documentTools(app, documents, i),
    textOf(content, documents, step, i, k, rival, open.text, flip("text")),
    documents.text && content.forms && content.kind === "words" ? markLegend(rival >= 0) : null,
    wholeText(app, documents, i),
    reasons(app, documents, step, i, k, rival, open, flip("words")),
  ]);
}

// Give the words of the text and the bars the colours of the two groups, as letters need them.
/** @param {App} app @param {number} k @param {number} rival */
function colourReader({ content, stepOf, groupsAt }, k, rival) {
  const { byId } = groupsAt({ cut: 0, step: stepOf(content.chosen).index });
  const style = getComputedStyle(document.documentElement);
  const ground = style.getPropertyValue("--tint").trim();
  for (const [name, id] of /** @type {[string, number][]} */ ([
    ["--group", k],
    ["--rival", rival],
  ])) {
    const group = byId.get(id);
    const colour = group ? readable(seenColour(group.colour), ground) : "var(--ink)";
    find("reader").style.setProperty(name, colour);
  }
}

const WHY = 5;

// Return why the document is in its group, in five words: those that add most to its score against the
// second group; of coordinates, the words of the group that its text has.
/**
 * @param {App} app @param {Documents} documents @param {Step} step @param {number} i
 * @param {number} k @param {number} rival
 */
function whyWords(app, documents, step, i, k, rival) {
  const { content } = app;
  if (step.labels[i] === step.K) return null;
  /** @type {HTMLElement[]} */
  let words = [];
  if (content.rows && content.kind === "words") {
    const terms = contributionsOf(content.rows, step, i, k, rival).filter(
      ({ difference }) => difference > 0,
    );
    words = terms.slice(0, WHY).map(({ j }) =>
      textButton(bdi(content.words[j]), () => showWord(app, j), {
        class: roleOf(step, j, k) === "own" ? "plain word own" : "plain word",
        title: "Show this word on the map",
      }),
    );
    const meaning = rival >= 0 ? meaningOf(app, step, i, k) : null;
    if (meaning && meaning.difference > (terms[0]?.difference ?? 0))
      words.unshift(make("em", { text: "its meaning" }));
  } else if (content.contrast && documents.text) {
    const has = new Set(documents.text[i].toLowerCase().match(TOKENS));
    words = content.contrast[k]
      .filter(([word]) => has.has(word))
      .slice(0, WHY)
      .map(([word]) => bdi(word, { class: "word" }));
  }
  if (!words.length) return null;
  return make("p", { class: "why" }, make("span", { class: "soft", text: "Why: " }), ...words);
}

/** @param {Documents} documents @param {number} i */
function about(documents, i) {
  const { id, date } = documents;
  const known = [];
  if (nameOf(documents, i) !== id[i]) known.push(bdi(id[i], { class: "soft" }));
  if (date?.[i]) known.push(make("span", { text: date[i] }));
  known.push(...labelTags(documents, i));
  return known.length ? make("p", { class: "about" }, ...known) : null;
}

/**
 * @param {Content} content @param {Documents} documents @param {Step} step @param {number} i
 * @param {number} k @param {number} rival @param {boolean} open @param {() => void} toggle
 */
function textOf(content, documents, step, i, k, rival, open, toggle) {
  if (!documents.text)
    return softLine(
      content.rows
        ? "The run has no texts. Only what each word adds is known."
        : "The run has no texts.",
    );
  const whole = documents.text[i];
  const long = whole.length > LONG;
  const text = long && !open ? cutAt(whole, LONG) : whole;
  const marked =
    content.forms && content.kind === "words"
      ? markText(content.forms, step, text, k, rival)
      : [text];
  /** @type {HTMLElement[]} */
  const parts = [make("div", { class: "text", dir: "auto" }, ...marked)];
  const cut = isCut(documents, i);
  const all = `${integer(whole.length)} characters`;
  const more = cut ? `show the ${all} in this report` : `show all ${all}`;
  if (long) parts.push(textButton(open ? "show the beginning only" : more, toggle));
  if (cut && documents.length) {
    parts.push(
      softLine(
        `Shortened here: ${integer(whole.length)} of ${counted(documents.length[i], "character")}.` +
          (content.run ? ` spheremix serve ${runFolder(location)} shows all.` : ""),
      ),
    );
  }
  return make("div", {}, ...parts);
}

// Return the beginning of a text, never cut between the two halves of one character.
/** @param {string} text @param {number} length */
function cutAt(text, length) {
  const half = (text.charCodeAt(length - 1) & 0xfc00) === 0xd800;
  return text.slice(0, half ? length - 1 : length);
}

/**
 * @param {App} app @param {Documents} documents @param {Step} step @param {number} i
 * @param {number} k @param {number} rival @param {Open} open @param {() => void} toggle
 */
function reasons(app, documents, step, i, k, rival, open, toggle) {
  const { content } = app;
  if (!content.rows) {
    const why =
      content.kind === "coordinates"
        ? "The columns are coordinates and not words, so what each of them adds is not shown."
        : "";
    return why ? softLine(why) : null;
  }
  const terms = contributionsOf(content.rows, step, i, k, rival);
  const { names } = content;
  const kept = keptWords(content.rows, i);
  const told = { own: names[k], rival: rival >= 0 ? names[rival] : "" };
  const odds = step.exact && rival >= 0 ? documents.log_odds[i] : null;
  const meaning = odds === null ? null : meaningOf(app, step, i, k);
  const details = make(
    "details",
    { class: "part word-by-word", open: open.table },
    make("summary", {
      text: meaning ? "Word by word, and the meaning" : "Word by word",
      title: "What each word adds to the score of either group: κ μ x",
    }),
    terms.length || meaning
      ? contributionTable(app, terms, odds, told, open.words, toggle, meaning)
      : softLine(`None of its words${kept ? " in this report" : ""} is in either group.`),
    kept
      ? make("p", {
          class: "soft kept-words",
          text: `The report has ${kept} of this document: those with the most weight in the scores.`,
        })
      : null,
  );
  details.addEventListener("toggle", () => (open.table = details.open));
  return details;
}

// A text with its words marked by what they are to a group.

const TOKENS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d]*/gu;

/**
 * @param {Map<string, number>} forms @param {Step} step @param {string} text @param {number} k
 * @param {number} rival
 */
export function markText(forms, step, text, k, rival) {
  const parts = [];
  let written = 0;
  for (const found of text.matchAll(TOKENS)) {
    const j = forms.get(found[0].normalize("NFC").toLowerCase());
    if (j === undefined) continue;
    const role = markOf(step, j, k, rival);
    if (!role) continue;
    if (found.index > written) parts.push(text.slice(written, found.index));
    parts.push(make("span", { class: `mark ${role}`, "data-word": j, text: found[0] }));
    written = found.index + found[0].length;
  }
  if (written < text.length) parts.push(text.slice(written));
  return parts;
}

// Return the mark of a word: words of the other group only are what speaks against this one.
/** @param {Step} step @param {number} j @param {number} k @param {number} rival */
function markOf(step, j, k, rival) {
  const role = roleOf(step, j, k);
  if (role === "other" && rival >= 0 && step.levels[rival * step.W + j] !== 0) return "rival";
  return role === "other" || role === "none" ? null : role;
}

/** @param {boolean} hasRival */
export function markLegend(hasRival) {
  const samples = [
    ["own", "only in this group"],
    ["shared", "shared with some other groups"],
    ["common", "in every group"],
    ["rival", "in the second group, not in this one"],
  ];
  return make(
    "p",
    { class: "mark-legend" },
    ...samples
      .slice(0, hasRival ? 4 : 3)
      .map(([role, text]) => make("span", { class: `mark ${role}`, text })),
  );
}

// What each word adds to the score of a group, against what it adds to that of another.

/**
 * Return kappa_k mu_kj x_j of both groups, for the words kept of a document.
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

/** @typedef {Pick<Term, "own" | "other" | "difference">} Added */

// Return what the meaning adds as a whole; null where there are only words, or at another step.
/** @param {App} app @param {Step} step @param {number} i @param {number} k @returns {Added | null} */
function meaningOf({ content }, step, i, k) {
  const { meaning, documents } = content;
  if (!meaning || !step.exact || documents?.group[i] !== k) return null;
  const [own, other] = [meaning.own[i], meaning.rival[i]];
  return { own, other, difference: own - other };
}

const SHOWN = 12;

// Return how many words of a document the report has, of how many; empty where it has them all.
/** @param {Pick<Rows, "indptr" | "n_words">} rows @param {number} i */
export function keptWords({ indptr, n_words: totals }, i) {
  const kept = indptr[i + 1] - indptr[i];
  return kept < totals[i] ? `${integer(kept)} of the ${counted(totals[i], "different word")}` : "";
}

/**
 * @param {App} app @param {Term[]} terms @param {number | null} logOdds
 * @param {{ own: string, rival: string }} names @param {boolean} all @param {() => void} toggle
 * @param {Added | null} meaning
 */
export function contributionTable(app, terms, logOdds, names, all, toggle, meaning = null) {
  const shown = all ? terms : terms.slice(0, SHOWN);
  const largest = Math.max(
    ...[...terms, ...present([meaning])].map(({ own, other }) =>
      Math.max(Math.abs(own), Math.abs(other)),
    ),
    1e-9,
  );
  const rows = shown.map((term) => {
    const word = textButton(bdi(app.content.words[term.j]), () => showWord(app, term.j), {
      title: "Show this word on the map",
    });
    return contributionRow(word, term, largest);
  });
  if (meaning) rows.unshift(contributionRow(make("em", { text: "meaning" }), meaning, largest));
  if (logOdds !== null && Number.isFinite(logOdds)) {
    const listed = [...shown, ...present([meaning])];
    const rest = logOdds - listed.reduce((sum, { difference }) => sum + difference, 0);
    rows.push(
      totalRow("all other words, and the sizes of the groups", rest),
      totalRow("log-odds in this fit", logOdds, "total"),
    );
  }
  const rival = names.rival ? bdi(names.rival, { title: names.rival }) : "";
  const head = [
    make("th", { scope: "col", text: "word" }),
    make("th", { scope: "col", class: "left" }, rival),
    make("th", { scope: "col" }, bdi(names.own, { title: names.own })),
    make("th", { scope: "col", class: "number", text: names.rival ? "difference" : "score" }),
  ];
  const button =
    terms.length > SHOWN
      ? textButton(all ? "show fewer words" : `show ${terms.length} words`, toggle)
      : null;
  return make("div", {}, tableOf("contributions", head, rows), button);
}

/** @param {HTMLElement} name @param {Added} added @param {number} largest */
function contributionRow(name, { own, other, difference }, largest) {
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, name),
    make("td", { class: "bars left" }, barOf(Math.abs(other) / largest, other < 0)),
    make("td", { class: "bars right" }, barOf(Math.abs(own) / largest, own < 0)),
    make("td", {
      class: "number",
      title: `${decimal(own)} against ${decimal(other)}`,
      text: signed(difference),
    }),
  );
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
