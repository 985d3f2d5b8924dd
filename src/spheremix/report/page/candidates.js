// The other numbers of clusters: their criteria, and what each of them gives.

import { bdi, find, make, present } from "./dom.js";
import { counted, criterionName, decimal, integer, percent } from "./format.js";
import { drawCurves, strokeSample } from "./curves.js";
import { advicePart } from "./advice.js";
import { agreementPercent } from "./certainty.js";
import { flowPart } from "./alluvial.js";

/** @import { App, Candidate, Model } from "./types.d.ts" */

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
  const clusters = make("section", { class: "part" });
  const choose = (/** @type {number} */ i) => state.set({ candidate: i });
  // From the table, which is below them, the clusters may be out of sight.
  const chooseBelow = (/** @type {number} */ i) => {
    choose(i);
    box.scrollTop += clusters.getBoundingClientRect().top - box.getBoundingClientRect().top;
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
      clusters,
      criteriaPart(candidates, names, rows),
    ]),
  );
  const chosen = candidates.findIndex((one) => one.chosen);
  state.follow(["candidate"], () => {
    const shown = state.now.candidate >= 0 ? state.now.candidate : chosen;
    ticks.forEach((tick, i) => tick.setAttribute("aria-pressed", String(i === shown)));
    rows.forEach((row, i) => row.classList.toggle("shown", i === shown));
    clusters.replaceChildren(...candidateClusters(candidates[shown]));
  });
  state.followAtRest(["tab", "cut", "edited", "theme"], () => {
    if (state.now.tab === "candidates") flow.replaceChildren(...flowPart(app));
  });
}

// Criteria need explanations, and are not needed to read the page.
/** @param {Candidate[]} candidates @param {string[]} names @param {HTMLElement[]} rows */
function criteriaPart(candidates, names, rows) {
  return make(
    "details",
    { class: "part criteria" },
    make("summary", { text: "Criteria: log-likelihood, AIC, BIC and others" }),
    make("p", {
      class: "soft",
      text:
        "A criterion weighs how well a mixture fits the documents against the number of its " +
        "parameters. The lowest value is best; the criteria seldom agree.",
    }),
    candidates.length > 1 ? criteriaCurves(candidates, names) : null,
    make("div", { class: "wide" }, criteriaTable(candidates, names, rows)),
    agreementKnown(candidates)
      ? make("p", { class: "soft", text: `Starts agree: ${AGREE}.` })
      : null,
  );
}

/** @param {Model} model @param {Candidate[]} candidates */
function introduction({ k_criterion: criterion, n_clusters: K }, candidates) {
  if (candidates.length < 2)
    return (
      `The number of groups was given (${K}), and no other number was tried. ` +
      "To compare several numbers, make the run again with a range of numbers."
    );
  const range = `${candidates[0].n_clusters} to ${candidates[candidates.length - 1].n_clusters}`;
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
      text: one.n_clusters,
      title: `Show ${one.n_clusters} groups`,
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
      make("span", { text: counted(candidates[0].n_clusters, "group") }),
      make("span", { text: counted(candidates[candidates.length - 1].n_clusters, "group") }),
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
  return make(
    "table",
    { class: "plain-table" },
    make("thead", {}, make("tr", {}, ...heads)),
    make("tbody", {}, ...rows),
  );
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
    const button = make("button", {
      type: "button",
      class: "plain",
      text: `${one.n_clusters}${several && one.chosen ? " (chosen)" : ""}`,
      on: { click: () => choose(i) },
    });
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
      make("th", { scope: "row" }, several ? button : String(one.n_clusters)),
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
function candidateClusters(candidate) {
  const { clusters } = candidate;
  const largest = Math.max(...clusters.map(({ weight }) => weight));
  const items = clusters.map(({ size, weight, words }) => {
    const bar = make("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${(100 * weight) / largest}%`;
    return make(
      "li",
      {},
      make("span", { class: "number size", text: size === null ? percent(weight) : integer(size) }),
      make("span", { class: "texts" }, bdi(words.join(" ")), make("span", { class: "track" }, bar)),
    );
  });
  const named = clusters.some(({ words }) => words.length)
    ? " Their most characteristic words:"
    : "";
  return [
    make("h3", {
      text: `The ${candidate.n_clusters} groups of this number, before words were dropped, by size`,
    }),
    make("p", {
      class: "soft",
      text: `${counted(candidate.n_nonzero, "weight")} of the prototypes are not zero.${named}`,
    }),
    make("ol", { class: "cluster-list roomy still" }, ...items),
  ];
}
