// The chosen group: its words, what sets it apart from another, its labels and its time.

import { groupTools } from "../edits/tools.js";
import { seenColour } from "../lib/colours.js";
import {
  barOf,
  bdi,
  createScroll,
  find,
  make,
  makeSvg,
  part,
  present,
  rove,
  textButton,
} from "../lib/dom.js";
import { largestOf, stepsPath } from "../lib/drawing.js";
import {
  counted,
  countedRows,
  decimal,
  integer,
  nounOf,
  percent,
  shownOfAll,
} from "../lib/format.js";
import { countLabels, countPeriods, labelOrder } from "../tabs/counts.js";
import {
  aboutItalics,
  comparison,
  contrastBars,
  isWeak,
  ownScale,
  wordBars,
} from "../words/bars.js";
import {
  characteristicWords,
  commonWords,
  hasGroups,
  onlyHereWords,
  sharedWords,
  wordCountText,
} from "../words/words.js";
import { levelOf, stabilityPhrase, stabilitySentence } from "./certainty.js";
import { chosenId } from "./grouping.js";

/** @import { App, Content, Documents, Group, LabelColumn, Step } from "../types.d.ts" */

const FIRST = 12; // characteristic words
const SHOWN = 24; // words of each other list

/** @param {App} app */
export function mountCard(app) {
  const { state, stepOf } = app;
  let all = false;
  const scroll = createScroll(find("card-body"));
  const draw = () => {
    const { byId, groups, nowhere } = app.groups();
    const group = byId.get(chosenId(state.now)) ?? groups[0];
    const toggle = () => {
      all = !all;
      draw();
    };
    find("card-name").replaceChildren(bdi(group.name()));
    find("card-swatch").style.background = seenColour(group.colour);
    find("card").style.setProperty("--group", seenColour(group.colour));
    const lost = group === nowhere;
    const total = lost
      ? app.content.corpus.n_kept
      : groups.reduce((sum, { size }) => sum + size, 0) || 1;
    find("card-size").replaceChildren(
      `${countedRows(Math.round(group.size))}, ${percent(group.size / total)}`,
      ...present([stabilityNote(app.content, group.stability)]),
    );
    const other = byId.get(state.now.compared);
    const wordless = app.content.kind === "coordinates" && !app.content.contrast;
    const step = stepOf(state.now.step);
    find("card-body").replaceChildren(
      ...present([
        lost ? null : groupTools(app, group),
        wordless && !lost ? noWords(app.content) : null,
        other && other !== group && !lost ? comparison(app, group, other) : null,
        ...(lost ? [aboutNowhere()] : groupParts(app, step, group, all, toggle)),
        ...labelBars(app, group.id),
        timeBars(app, group.id),
        group.whole >= 0 ? moreFacts(app.content, step, group.whole) : null,
      ]),
    );
  };
  state.followAtRest(["group", "node", "cut", "step", "compared", "edited", "theme"], draw);
  state.follow(["group", "node", "cut"], () => scroll.to(0));
}

/**
 * Return the words of a group: of the model where it was fitted, else as far as they are known from the groups
 * and the documents in it.
 * @param {App} app @param {Step} step @param {Group} group @param {boolean} all @param {() => void} toggle
 */
function groupParts(app, step, group, all, toggle) {
  if (group.whole >= 0) return modelGroupParts(app, step, group.whole, all, toggle);
  const grouping = app.groups();
  const profile = grouping.profile();
  if (!profile) return wordChips(app.content, group);
  const view = { ...app, content: profile.content };
  const listed = wordNumbers(app.content, group.words);
  const row = grouping.groups.indexOf(group);
  return modelGroupParts(view, profile.step, row, all, toggle, listed);
}

/** Return the numbers of words. @param {Content} content @param {string[]} words */
function wordNumbers(content, words) {
  return words.map((word) => content.words.indexOf(word)).filter((j) => j >= 0);
}

// Return how far one can rely on the group; the sentence is under the pointer.
/** @param {Content} content @param {number | null} value */
function stabilityNote(content, value) {
  if (value === null) return null;
  return make("span", {
    class: levelOf(value) === "weak" ? "stability-note warning" : "stability-note",
    text: `, ${stabilityPhrase(value)}`,
    title: stabilitySentence(content, value),
  });
}

function aboutNowhere() {
  return make("p", {
    class: "soft aside",
    text:
      "These documents fit no group: they are less like any group than nearly all documents of " +
      "the groups are. They are no group themselves and need not be alike. The shares of the " +
      "groups do not count them. Open one to see which group is nearest to it.",
  });
}

// Return what to do about groups of bare coordinates, which have no words.
/** @param {Content} content */
function noWords({ corpus, documents }) {
  const remedy = [
    " Give the texts of the documents, one for each row and in the same order, and each group has " +
      "its words and its documents can be read: ",
    make("code", {
      text: `spheremix explore ${corpus.source || "rows.npy"} --texts texts.csv -o run`,
    }),
  ];
  return make(
    "p",
    { class: "notice" },
    "The numbers of this file have no names, so the groups have no words.",
    ...(documents?.text ? [] : remedy),
  );
}

// Return the words of a group that was not fitted, where their weights are not known.
/** @param {Content} content @param {Group} group */
function wordChips(content, group) {
  const chips = (/** @type {string[]} */ words, kind = "") =>
    make("ul", { class: `chips ${kind}` }, ...words.map((word) => make("li", {}, bdi(word))));
  return [
    group.words.length
      ? part(
          `Characteristic ${content.contrast ? "word" : nounOf(content)}s`,
          "",
          chips(group.words),
        )
      : null,
    group.only.length ? part("Only here", "", chips(group.only, "own")) : null,
  ];
}

/**
 * @param {App} app @param {Step} step @param {number} k @param {boolean} all @param {() => void} toggle @param {number[] | null} listed its first words
 */
function modelGroupParts(app, step, k, all, toggle, listed = null) {
  const { content } = app;
  const parts = wordParts(app, step, k, ownScale(step, k), all, toggle, listed);
  return content.kind === "coordinates" ? [contrastWords(content, k), coordinates(parts)] : parts;
}

// Return the coordinates one click away: they mean little by themselves.
/** @param {HTMLElement[]} parts */
function coordinates(parts) {
  return make(
    "details",
    { class: "part" },
    make("summary", { text: "Coordinates of the prototype" }),
    ...parts,
  );
}

/** @param {Content} content @param {Step} step @param {number} k */
function moreFacts(content, step, k) {
  const same = content.model.kappa === "shared" ? ", the same for all" : "";
  const kappa = decimal(step.entry.kappas[k]);
  return make(
    "details",
    { class: "part numbers" },
    make("summary", { text: "Numbers of the model" }),
    make("p", {
      class: "facts-line",
      text:
        `number ${k} in the tables · ${wordCountText(content, step, k)} · concentration κ = ${kappa}${same}: ` +
        "the larger, the more alike its documents are",
    }),
  );
}

/** @param {Content} content @param {number} k */
function contrastWords(content, k) {
  if (!content.contrast) return null;
  const most = Math.max(...content.contrast.flat().map(([, z]) => z));
  return part(
    "Characteristic words",
    "of its texts; bars: how much they set it apart, one scale for all groups",
    contrastBars(content.contrast[k].slice(0, FIRST), most),
  );
}

/**
 * @param {App} app @param {Step} step @param {number} k @param {number} scale
 * @param {boolean} all @param {() => void} toggle @param {number[] | null} listed
 */
function wordParts(app, step, k, scale, all, toggle, listed) {
  const { content, edits } = app;
  const limit = all ? Infinity : SHOWN;
  const lists = wordLists(content, step, k, limit);
  const drop = (/** @type {number} */ j) =>
    edits.change((list) => [...list, { kind: "drop", word: content.words[j] }]);
  const kept = (/** @type {number[]} */ words) =>
    words.filter((j) => !edits.isDropped(content.words[j]));
  const bars = (/** @type {number[]} */ words, wide = false) =>
    wordBars(app, step, k, kept(words), scale, content.kind === "words" ? drop : null, wide);
  const parts = lists
    .filter(({ words, kind }) => words.length || kind === "own")
    .map(({ title, note, words, kind }) => {
      const section = part(title, note, bars(words));
      section.dataset.kind = kind;
      return section;
    });
  const size = (/** @type {number} */ j) => Math.abs(step.weight(k, j));
  const first = hasGroups(content, step)
    ? (listed ?? characteristicWords(content, step, k, FIRST)).toSorted((a, b) => size(b) - size(a))
    : [];
  if (hasGroups(content, step)) {
    const note = "bars: weight, one scale for all lists; full bars: only here, outlines: shared";
    const legend = make(
      "p",
      { class: "soft bars-legend", "aria-hidden": "true" },
      make("span", { class: "bar" }),
      " only here ",
      make("span", { class: "bar outline" }),
      " shared",
    );
    parts.unshift(part(`Characteristic ${nounOf(content)}s`, note, bars(first, true), legend));
  }
  const shownWords = [first, ...lists.map(({ words }) => words)];
  if (shownWords.some((words) => kept(words).some((j) => isWeak(content, step, k, j))))
    parts.unshift(aboutItalics(content));
  const shown = lists.reduce((sum, { words }) => sum + words.length, 0);
  const hidden = step.entry.n_words[k] - step.shownCounts[k];
  if (step.shownCounts[k] > shown || all) {
    const number = integer(step.shownCounts[k]);
    const more = hidden ? `show the ${number} in this report` : `show all ${number}`;
    parts.push(textButton(all ? "show less" : more, toggle));
  }
  if (hidden) parts.push(hiddenWords(content, hidden));
  return parts;
}

// Return what the limit of the page leaves out of this list.
/** @param {Content} content @param {number} hidden */
function hiddenWords(content, hidden) {
  const noun = nounOf(content);
  return make("p", {
    class: "soft hidden-words",
    text:
      `This group has ${counted(hidden, `more ${noun}`)}, not listed here, ` +
      `because the report shows ${shownOfAll(content)}.`,
  });
}

/**
 * Return words of one group only, shared and common ones; all together where they are not told
 * apart.
 * @param {Content} content @param {Step} step @param {number} k @param {number} limit
 */
function wordLists(content, step, k, limit) {
  const noun = nounOf(content);
  if (!hasGroups(content, step)) {
    const words = characteristicWords(content, step, k, limit);
    return [{ title: `All ${noun}s`, note: "the most characteristic first", words, kind: "all" }];
  }
  const all = limit === Infinity;
  const least = percent(content.only_here_share);
  const bound =
    all || !content.only_here ? "" : `; listed: those in at least ${least} of its documents`;
  return [
    {
      title: "Only here",
      note: `${counted(step.entry.n_only_here_words[k], noun)} that no other group has${bound}`,
      words: onlyHereWords(content, step, k, limit, all),
      kind: "own",
    },
    {
      title: `Shared ${noun}s`,
      note: "that some other groups have too",
      words: sharedWords(content, step, k, limit),
      kind: "shared",
    },
    {
      title: `Common ${noun}s`,
      note: "that every group has",
      words: commonWords(content, step, k, limit),
      kind: "common",
    },
  ];
}

// The chosen group over labels and over time, as bars on its card.

const LABELS_SHOWN = 8;
const WIDE = 400; // of the drawing of time, in its own units
const HIGH = 56;

/** Return a part for each column of labels. @param {App} app @param {number} id */
export function labelBars(app, id) {
  const { documents } = app.content;
  if (!documents?.labels || !documents.label_names) return [];
  const { labels, nowhere } = app.groups();
  const without = id === nowhere?.id ? undefined : nowhere?.id;
  const { counts, totals, sizes } = countLabels(documents, labels, [id], without);
  const found = { inside: counts[0], totals, size: sizes[0] };
  const columns = documents.label_columns ?? [];
  return columns.map((column) => columnBars(app, documents, column, found));
}

/**
 * @param {App} app @param {Documents} documents @param {LabelColumn} column
 * @param {{ inside: Float64Array, totals: Float64Array, size: number }} found
 */
function columnBars({ content, state }, documents, column, { inside, totals, size }) {
  const names = documents.label_names ?? [];
  const order = labelOrder(inside, column);
  if (!order.length) return null;
  const rows = order.slice(0, LABELS_SHOWN).map((label) => {
    const text = `${integer(inside[label])} of ${integer(totals[label])}`;
    const lift =
      inside[label] /
      size /
      (totals[label] / (documents.passages?.n_grouped ?? content.corpus.n_kept));
    const title =
      `${percent(inside[label] / size)} of this group, ` +
      `${decimal(lift)} times as frequent as in all documents. Click to list them.`;
    const click = () => state.set({ label, scope: "group", list: "all" });
    return make(
      "li",
      {},
      make(
        "button",
        { type: "button", title, on: { click } },
        bdi(names[label]),
        make("span", { class: "track" }, barOf(inside[label] / size)),
        make("span", { class: "number", text }),
      ),
    );
  });
  const more = order.length - rows.length;
  const rest = more > 0 ? `; ${counted(more, "rarer label")} not shown` : "";
  const note = `in this group, of all documents${rest}`;
  const title = make("span", {}, "Labels: ", bdi(column.name));
  return part(title, note, rove(make("ul", { class: "bars" }, ...rows), "button"));
}

/** @param {App} app @param {number} id */
export function timeBars(app, id) {
  const { documents } = app.content;
  if (!documents?.date) return null;
  const { periods, counts, undated } = countPeriods(documents, app.groups().labels, [id]);
  if (!periods.length) return null;
  const [inside] = counts;
  const largest = Math.max(...inside, 1);
  const peak = periods[inside.indexOf(largest)] ?? periods[0];
  const period = periods[0].length === 4 ? "year" : "month";
  const note =
    `documents per ${period}, at most ${integer(largest)} in ${peak}` +
    (undated ? `; ${integer(undated)} without a date` : "");
  const seen = largestOf(inside, WIDE);
  return part(
    "Time",
    note,
    makeSvg(
      "svg",
      {
        class: "timeline",
        viewBox: `0 0 ${WIDE} ${HIGH}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": `From ${periods[0]} to ${periods.at(-1)}: ${note}`,
      },
      makeSvg("path", { d: stepsPath(seen, WIDE, HIGH, largest) }),
    ),
    make(
      "div",
      { class: "ends" },
      make("span", { text: periods[0] }),
      make("span", { text: periods.at(-1) }),
    ),
  );
}
