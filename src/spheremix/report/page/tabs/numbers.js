// The tab of other numbers: the advice, streams between numbers of groups, candidates and their criteria.

import { agreementPercent, share } from "../groups/certainty.js";
import { openCut } from "../groups/sliders.js";
import { seenColour } from "../lib/colours.js";
import {
  barOf,
  bdi,
  find,
  make,
  makeSvg,
  noteSpan,
  part,
  present,
  softLine,
  tableOf,
  textButton,
  wideBox,
} from "../lib/dom.js";
import { drawCurves, strokeSample } from "../lib/drawing.js";
import {
  counted,
  countedRows,
  criterionName,
  decimal,
  firstParts,
  integer,
  percent,
} from "../lib/format.js";

/** @import { Advice, App, Candidate, Grouping, Model } from "../types.d.ts" */

const AGREE =
  "mean adjusted Rand index between the best start and the other starts; " +
  "100 %: all starts give the same groups";

/** @param {App} app */
export function mountCandidates(app) {
  const { content, state } = app;
  const { candidates, model } = content;
  const box = find("candidates");
  const several = candidates.length > 1;
  const names = Object.keys(candidates[0].criteria);
  const groups = make("section", { class: "part" });
  const choose = (/** @type {number} */ i) => state.set({ candidate: i });
  // From the table, which is below them, the groups may be out of sight.
  const chooseBelow = (/** @type {number} */ i) => {
    choose(i);
    box.scrollTop += groups.getBoundingClientRect().top - box.getBoundingClientRect().top;
  };
  const ticks = several ? kTicks(candidates, choose) : [];
  const rows = criteriaRows(candidates, names, chooseBelow);
  const flow = make("section", { class: "part" });
  box.replaceChildren(
    ...present([
      make("p", { text: introduction(model, candidates) }),
      advicePart(app),
      flow,
      several ? make("div", { class: "ticks" }, ...ticks) : null,
      groups,
      criteriaPart(candidates, names, rows),
    ]),
  );
  const chosen = candidates.findIndex((one) => one.chosen);
  state.follow(["candidate"], () => {
    const shown = state.now.candidate >= 0 ? state.now.candidate : chosen;
    ticks.forEach((tick, i) => tick.setAttribute("aria-pressed", String(i === shown)));
    rows.forEach((row, i) => row.classList.toggle("shown", i === shown));
    groups.replaceChildren(...candidateGroups(candidates[shown]));
  });
  state.followAtRest(["tab", "cut", "edited", "theme"], () => {
    if (state.now.tab === "candidates") flow.replaceChildren(...flowPart(app));
  });
}

// Return the criteria, which need explanations, and are not needed to read the page.
/** @param {Candidate[]} candidates @param {string[]} names @param {HTMLElement[]} rows */
function criteriaPart(candidates, names, rows) {
  return make(
    "details",
    { class: "part criteria" },
    make("summary", { text: "Criteria: log-likelihood, AIC, BIC and others" }),
    softLine(
      "A criterion weighs how well a mixture fits the documents against the number of its " +
        "parameters. The lowest value is best; the criteria seldom agree.",
    ),
    candidates.length > 1 ? criteriaCurves(candidates, names) : null,
    wideBox("Criteria", criteriaTable(candidates, names, rows)),
    agreementKnown(candidates) ? softLine(`Starts agree: ${AGREE}.`) : null,
  );
}

/** @param {Model} model @param {Candidate[]} candidates */
function introduction({ k_criterion: criterion, n_groups: K }, candidates) {
  if (candidates.length < 2)
    return (
      `The number of groups was given (${K}), and no other number was tried. ` +
      "To compare several numbers, make the run again with a range of numbers."
    );
  const range = `${candidates[0].n_groups} to ${candidates[candidates.length - 1].n_groups}`;
  return (
    `${range} groups were tried; ${chosenBy(K, criterion)}` +
    "To explore another number in full, make the run again with it."
  );
}

/** @param {number} K @param {string | null} criterion */
function chosenBy(K, criterion) {
  if (!criterion) return `${K} were kept. `;
  if (criterion === "advice") return `${K} are recommended. `;
  return `${K} have the lowest ${criterionName(criterion)}. `;
}

/** @param {Candidate[]} candidates @param {(i: number) => void} choose */
function kTicks(candidates, choose) {
  return candidates.map((one, i) => {
    const button = make("button", {
      type: "button",
      class: one.chosen ? "choice used" : "choice",
      text: one.n_groups,
      title: `Show ${one.n_groups} groups`,
      on: { click: () => choose(i) },
    });
    button.style.left = `calc(16px + (100% - 32px) * ${i / (candidates.length - 1)})`;
    return button;
  });
}

/** @param {Candidate[]} candidates @param {string[]} names */
function criteriaCurves(candidates, names) {
  const curves = names.map((name) => ({
    name,
    values: candidates.map((one) => one.criteria[name]),
  }));
  const drawing = drawCurves(
    curves,
    candidates.map((_, i) => i / (candidates.length - 1)),
    1000,
    110,
    "Criteria against the number of groups",
  );
  const legend = names.map((name) => make("span", {}, strokeSample(name), criterionName(name)));
  return make(
    "div",
    { class: "k-curves" },
    drawing,
    make(
      "p",
      { class: "ends" },
      make("span", { text: counted(candidates[0].n_groups, "group") }),
      make("span", { text: counted(candidates[candidates.length - 1].n_groups, "group") }),
    ),
    make(
      "p",
      { class: "legend" },
      ...legend,
      make("span", {
        class: "soft",
        text: "Each curve has its own scale; the lowest value is best.",
      }),
    ),
  );
}

/** @param {Candidate[]} candidates */
function agreementKnown(candidates) {
  return candidates.some(({ agreement }) => agreement !== null);
}

/**
 * @param {Candidate[]} candidates @param {string[]} names @param {HTMLElement[]} rows
 */
function criteriaTable(candidates, names, rows) {
  const heads = [
    ["K"],
    ["starts converged"],
    ...(agreementKnown(candidates) ? [["starts agree", AGREE]] : []),
    ["log-likelihood"],
    ...names.map((name) => [criterionName(name)]),
  ].map(([text, title]) => make("th", { scope: "col", text, title }));
  return tableOf("plain-table", heads, rows);
}

/**
 * @param {Candidate[]} candidates @param {string[]} names @param {(i: number) => void} choose
 */
function criteriaRows(candidates, names, choose) {
  const several = candidates.length > 1;
  const lowest = names.map((name) => lowestOf(candidates, name));
  const number = (/** @type {string} */ text, title = "") =>
    make("td", { class: "number", text, title: title || null });
  return candidates.map((one, i) => {
    const button = textButton(`${one.n_groups}${several && one.chosen ? " (chosen)" : ""}`, () =>
      choose(i),
    );
    const cells = names.map((name, c) => {
      const best = several && lowest[c] !== null && one.criteria[name] === lowest[c];
      return make("td", {
        class: best ? "number lowest" : "number",
        text: decimal(one.criteria[name]),
      });
    });
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, several ? button : String(one.n_groups)),
      number(`${one.n_converged} of ${one.n_starts}`),
      agreementKnown(candidates) ? number(agreementText(one), AGREE) : null,
      number(decimal(one.log_likelihood)),
      ...cells,
    );
  });
}

/**
 * The lowest value of a criterion; a candidate for which it is not known does not count.
 * @param {Pick<Candidate, "criteria">[]} candidates @param {string} name
 */
export function lowestOf(candidates, name) {
  const known = candidates.map((one) => one.criteria[name]).filter((value) => value !== null);
  return known.length ? Math.min(...known) : null;
}

/** @param {Candidate} candidate */
function agreementText({ agreement }) {
  return agreement === null ? "–" : agreementPercent(agreement);
}

/** @param {Candidate} candidate */
function candidateGroups(candidate) {
  const { groups } = candidate;
  const largest = Math.max(...groups.map(({ weight }) => weight));
  const items = groups.map(({ size, weight, words }) => {
    const bar = barOf(weight / largest);
    return make(
      "li",
      {},
      make("span", { class: "number size", text: size === null ? percent(weight) : integer(size) }),
      make("span", { class: "texts" }, bdi(words.join(" ")), make("span", { class: "track" }, bar)),
    );
  });
  const named = groups.some(({ words }) => words.length) ? " Their most characteristic words:" : "";
  return [
    make("h3", {
      text: `The ${candidate.n_groups} groups of this number, before words were dropped, by size`,
    }),
    softLine(`${counted(candidate.n_nonzero, "weight")} of the prototypes are not zero.${named}`),
    make("ol", { class: "group-list still" }, ...items),
  ];
}

// How many groups: what the evidence says of each number that was tried.

/** @type {Record<string, string>} */
const SURE = {
  clear: "The evidence for this number is clear.",
  fair: "The evidence for this number is fair.",
  weak: "The evidence for this number is weak.",
};

/** @type {[name: string, text: string, title: string][]} */
const COLUMNS = [
  ["agreement", "halves agree", "Halves of the documents give the same groups: 100 % is always"],
  ["coming_back", "documents in groups that come back", "In at least half of what they were"],
  ["stability", "stability of a group", "How much of it comes back in halves of the documents"],
  ["score", "score", "How far halves agree, plus a little for detail: larger is better"],
];

/** @param {App} app */
export function advicePart(app) {
  const { advice } = app.content;
  if (!advice) return null;
  const said = advice.recommended.map(({ n_groups: K, sentence, level }) => {
    if (level === "none") return make("li", { text: sentence });
    const colon = sentence.indexOf(":"); // after the number, which leads to its groups
    const button = textButton(sentence.slice(0, colon), () => openCut(app, K), {
      title: `Show ${K} groups`,
    });
    return make("li", {}, button, sentence.slice(colon));
  });
  return part(
    "How many groups",
    "",
    make("ul", {}, ...said),
    make("p", { text: [SURE[advice.certainty] ?? "", ...advice.doubts].join(" ") }),
    wideBox("Evidence", evidenceTable(app, advice)),
  );
}

// Return agreements in percent, as in the top line; other numbers as they are.
/** @param {string} name @param {number | null} value */
function evidenceText(name, value) {
  if (value === null) return "–";
  return name === "agreement" ? agreementPercent(value) : share(value);
}

/** @param {App} app @param {Advice} advice */
function evidenceTable(app, { evidence, recommended }) {
  const numbers = evidence.n_groups ?? [];
  const columns = COLUMNS.filter(([name]) => evidence[name]?.some((value) => value !== null));
  const head = columns.map(([, text, title]) => make("th", { scope: "col", text, title }));
  const rows = numbers.map((K, i) => {
    const place = recommended.findIndex((one) => one.n_groups === K);
    const chosen = K === app.content.model.n_groups;
    return make(
      "tr",
      { class: chosen ? "shown" : null },
      make(
        "th",
        { scope: "row" },
        textButton(
          `${K}${chosen ? " (shown)" : place >= 0 ? ` (${recommended[place].level})` : ""}`,
          () => openCut(app, Number(K)),
        ),
      ),
      ...columns.map(([name]) => {
        const value = evidence[name][i];
        return make("td", { class: "number", text: evidenceText(name, value) });
      }),
    );
  });
  const first = make("th", { scope: "col", text: "groups" });
  return tableOf("plain-table evidence", [first, ...head], rows);
}

// How groups merge and divide: documents as streams between several numbers of groups of the tree.

const WIDE = 640;
const HIGH = 300;
const BLOCK = 12; // width of a block
const GAP = 5; // between blocks
const NAME = 130; // room for names at the right

// Return streams of documents between fewer groups, those of the model, and more of them.
/** @param {App} app */
export function flowPart(app) {
  const { content, state } = app;
  const { tree, model, advice, documents } = content;
  if (!tree || !documents?.leaf) return [];
  const K = model.n_groups;
  const others = (advice?.recommended ?? []).map((one) => one.n_groups);
  const fits = (/** @type {number} */ m) => m >= 2 && m <= tree.leaves && m !== K;
  const fewer = others.find((m) => m < K && fits(m)) ?? Math.ceil(K / 2);
  const more = others.find((m) => m > K && fits(m)) ?? tree.leaves;
  const now = state.now.cut;
  const numbers = [...new Set([fewer, K, more, ...(now ? [now] : [])])]
    .filter((m) => m === K || fits(m))
    .sort((a, b) => a - b);
  if (numbers.length < 2) return [];
  const cuts = numbers.map((m) => (m === K ? 0 : m));
  const choose = (/** @type {number} */ cut, /** @type {number} */ id) =>
    state.set({ cut, step: content.chosen, [cut ? "node" : "group"]: id });
  return [
    make(
      "h3",
      {},
      "How groups merge and divide",
      noteSpan("documents as streams; click a group to choose it"),
    ),
    alluvial(app, cuts, choose),
  ];
}

// Return how many documents go from each group to each group of the next column.
/** @param {Pick<Grouping, "labels">} from @param {Pick<Grouping, "labels">} to */
export function streams(from, to) {
  /** @type {Map<string, { from: number, to: number, n: number }>} */
  const found = new Map();
  for (let i = 0; i < from.labels.length; i++) {
    const key = `${from.labels[i]} ${to.labels[i]}`;
    const one = found.get(key) ?? { from: from.labels[i], to: to.labels[i], n: 0 };
    one.n++;
    found.set(key, one);
  }
  return [...found.values()];
}

// Return where the blocks of a column stand, from the top, as high as their groups are large.
/** @param {Pick<Grouping, "groups">} column @param {number} total @param {number} height */
function blocksOf({ groups }, total, height) {
  const room = height - GAP * (groups.length - 1);
  let y = 0;
  return new Map(
    groups.map((group) => {
      const high = (group.size / total) * room;
      const block = { group, y, high, out: y, into: y };
      y += high + GAP;
      return [group.id, block];
    }),
  );
}

/**
 * @param {App} app @param {number[]} cuts numbers of groups; 0 for those of the model
 * @param {(cut: number, id: number) => void} choose
 */
function alluvial(app, cuts, choose) {
  const columns = cuts.map((cut) => app.groupsAt({ cut, step: app.content.chosen }));
  const total = columns[0].labels.length || 1;
  const drawing = makeSvg("svg", {
    class: "alluvial",
    viewBox: `0 -18 ${WIDE} ${HIGH + 20}`,
    role: "img",
    "aria-label": `Documents between ${columns.map(({ groups }) => groups.length).join(", ")} groups`,
  });
  const across = (WIDE - NAME - BLOCK) / (columns.length - 1);
  const placed = columns.map((column) => blocksOf(column, total, HIGH));
  columns.forEach((column, c) => {
    if (c === 0) return;
    const room = (/** @type {number} */ at) => HIGH - GAP * (columns[at].groups.length - 1);
    const order = (/** @type {number} */ at, /** @type {number} */ id) =>
      columns[at].groups.findIndex((group) => group.id === id);
    const all = streams(columns[c - 1], column).sort(
      (a, b) => order(c - 1, a.from) - order(c - 1, b.from) || order(c, a.to) - order(c, b.to),
    );
    for (const one of all) {
      const from = placed[c - 1].get(one.from);
      const to = placed[c].get(one.to);
      if (!from || !to) continue;
      const left = (one.n / total) * room(c - 1);
      const right = (one.n / total) * room(c);
      const path = makeSvg("path", {
        d: ribbon(across * (c - 1) + BLOCK, from.out, left, across * c, to.into, right),
      });
      path.style.fill = seenColour(to.group.colour);
      path.append(
        makeSvg("title", {
          text: `${countedRows(one.n)}: ${from.group.name()} – ${to.group.name()}`,
        }),
      );
      from.out += left;
      to.into += right;
      drawing.append(path);
    }
  });
  placed.forEach((blocks, c) => drawing.append(...columnParts(blocks, c, cuts[c], across, choose)));
  return wideBox("Streams between numbers of groups", drawing);
}

/**
 * @param {number} x @param {number} y @param {number} high @param {number} x2 @param {number} y2
 * @param {number} high2
 */
function ribbon(x, y, high, x2, y2, high2) {
  const middle = (x + x2) / 2;
  const [a, b, c, d] = [y, y + high, y2, y2 + high2].map((value) => value.toFixed(1));
  return `M${x},${a}C${middle},${a} ${middle},${c} ${x2},${c}L${x2},${d}C${middle},${d} ${middle},${b} ${x},${b}Z`;
}

/**
 * @param {ReturnType<typeof blocksOf>} blocks @param {number} c @param {number} cut
 * @param {number} across @param {(cut: number, id: number) => void} choose
 */
function columnParts(blocks, c, cut, across, choose) {
  const x = across * c;
  const head = makeSvg("text", { x, y: -6, class: "head", text: counted(blocks.size, "group") });
  const parts = [...blocks.values()].flatMap(({ group, y, high }) => {
    const block = makeSvg("rect", { x, y, width: BLOCK, height: Math.max(1, high) });
    block.style.fill = seenColour(group.colour);
    block.addEventListener("click", () => choose(cut, group.id));
    block.append(makeSvg("title", { text: `${group.name()}: ${integer(group.size)}` }));
    if (high < 9) return [block];
    const name = firstParts(group.name(), 2);
    const text = makeSvg("text", { x: x + BLOCK + 4, y: y + high / 2 + 4, text: name });
    text.addEventListener("click", () => choose(cut, group.id));
    return [block, text];
  });
  return [head, ...parts];
}
