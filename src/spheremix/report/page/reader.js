// One document: where it is and why, and its text with the words marked.

import { bdi, createScroll, find, make, present } from "./dom.js";
import { counted, integer } from "./format.js";
import { contributionsOf, contributionTable, keptWords } from "./contributions.js";
import { labelTags } from "./documents.js";
import { isCut, nameOf } from "./filters.js";
import { markLegend, markText } from "./marking.js";
import { documentTools } from "./edit_tools.js";
import { placeOf } from "./nowhere.js";
import { elsewhere, verdict } from "./verdict.js";

/** @import { App, Content, Documents, Step } from "./types.d.ts" */

const LONG = 20_000; // characters shown before they are asked for

/** @typedef {{ text: boolean, words: boolean }} Open */

/** @param {App} app */
export function mountReader(app) {
  const { content, state, stepOf } = app;
  const { documents } = content;
  if (!documents) return;
  /** @type {Open} */
  const open = { text: false, words: false };
  const scroll = createScroll(find("reader-body"));
  const draw = () => {
    const i = state.now.document;
    const body = find("reader-body");
    document.body.classList.toggle("reading", i >= 0);
    find("reader-close").hidden = i < 0;
    if (i < 0) {
      find("reader-name").replaceChildren("Reader");
      body.replaceChildren(
        make("p", { class: "soft", text: `Choose a document in the list${orPress()}.` }),
      );
      return;
    }
    find("reader-name").replaceChildren(bdi(nameOf(documents, i)));
    body.replaceChildren(...documentParts(app, documents, stepOf(state.now.step), i, open, draw));
  };
  state.follow(["document"], () => {
    open.text = false;
    open.words = false;
    draw();
    scroll.to(0);
  });
  state.followAtRest(["step", "edited", "cluster", "node", "cut", "scope"], draw);
  find("reader-close").addEventListener("click", () => {
    state.set({ document: -1 });
    find("document-list").focus();
  });
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
  return present([
    about(documents, i),
    elsewhere(app, i),
    verdict(app, documents, step, i, step.labels[i]),
    documentTools(app, documents, i),
    documents.text && content.forms && content.kind === "words" ? markLegend(rival >= 0) : null,
    textOf(content, documents, step, i, k, rival, open.text, flip("text")),
    reasons(app, documents, step, i, k, rival, open.words, flip("words")),
  ]);
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
    return make("p", {
      class: "soft",
      text: content.rows
        ? "The run has no texts. Only what each word adds is known."
        : "The run has no texts.",
    });
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
  if (long)
    parts.push(
      make("button", {
        type: "button",
        class: "plain",
        text: open ? "show the beginning only" : more,
        on: { click: toggle },
      }),
    );
  if (cut && documents.length) {
    parts.push(
      make("p", {
        class: "soft",
        text:
          `Shortened here: ${integer(whole.length)} of ` +
          `${counted(documents.length[i], "character")}.`,
      }),
    );
  }
  return make("div", {}, ...parts);
}

// Never between the two halves of one character.
/** @param {string} text @param {number} length */
function cutAt(text, length) {
  const half = (text.charCodeAt(length - 1) & 0xfc00) === 0xd800;
  return text.slice(0, half ? length - 1 : length);
}

/**
 * @param {App} app @param {Documents} documents @param {Step} step @param {number} i
 * @param {number} k @param {number} rival @param {boolean} all @param {() => void} toggle
 */
function reasons(app, documents, step, i, k, rival, all, toggle) {
  const { content } = app;
  if (!content.rows) {
    const why =
      content.kind === "coordinates"
        ? "The columns are coordinates and not words, so what each of them adds is not shown."
        : "";
    return why ? make("p", { class: "soft", text: why }) : null;
  }
  const terms = contributionsOf(content.rows, step, i, k, rival);
  const { names } = content;
  const kept = keptWords(content.rows, i);
  const told = { own: names[k], rival: rival >= 0 ? names[rival] : "" };
  const odds = step.exact && rival >= 0 ? documents.log_odds[i] : null;
  return make(
    "section",
    { class: "part" },
    make(
      "h3",
      {},
      "Why: word by word",
      make("span", {
        class: "note",
        text: "what each word adds to the score of either group: κ μ x",
      }),
    ),
    terms.length
      ? contributionTable(app, terms, odds, told, all, toggle)
      : make("p", {
          class: "soft",
          text: `None of its words${kept ? " in this report" : ""} is in either group.`,
        }),
    kept
      ? make("p", {
          class: "soft kept-words",
          text: `The report has ${kept} of this document: those with the most weight in the scores.`,
        })
      : null,
  );
}
