// The other numbers of clusters: their criteria, and what each of them gives.

import { bdi, find, make } from "./dom.js";
import { counted, criterionName, decimal, integer, percent } from "./format.js";
import { drawCurves, strokeSample } from "./curves.js";

export function mountCandidates({ content, state }) {
  const { candidates, model } = content;
  const box = find("candidates");
  if (!candidates || !candidates.length) {
    box.replaceChildren(
      make("p", {
        class: "soft",
        text: "The number of clusters was given: no other one was tried.",
      }),
    );
    return;
  }
  const choose = candidates.findIndex((one) => one.chosen);
  const names = Object.keys(candidates[0].criteria || {});
  state.follow(["candidate"], () => {
    const shown = state.now.candidate >= 0 ? state.now.candidate : Math.max(0, choose);
    box.replaceChildren(
      make("p", { text: introduction(model, candidates) }),
      candidates.length > 1 ? criteriaCurves(candidates, names, shown, state) : "",
      make("div", { class: "wide" }, criteriaTable(candidates, names, shown, state)),
      candidateClusters(candidates[shown]),
    );
  });
}

function introduction({ k_criterion: criterion, n_clusters: K }, candidates) {
  if (candidates.length < 2) return `Only K = ${K} was tried.`;
  const range = `${candidates[0].n_clusters} to ${candidates.at(-1).n_clusters}`;
  return (
    `Mixtures of ${range} clusters were fitted without penalty; ` +
    (criterion ? `K = ${K} has the lowest ${criterionName(criterion)}. ` : `K = ${K} was kept. `) +
    "Choose a K to see its clusters; run again with --k to explore it."
  );
}

function criteriaCurves(candidates, names, shown, state) {
  const last = candidates.length - 1;
  const curves = names.map((name) => ({
    name,
    values: candidates.map((one) => one.criteria[name]),
  }));
  const drawing = drawCurves(
    curves,
    candidates.map((_, i) => i / last),
    1000,
    110,
    "Criteria against the number of clusters",
  );
  const ticks = candidates.map((one, i) => {
    const button = make("button", {
      type: "button",
      class: one.chosen ? "choice used" : "choice",
      text: one.n_clusters,
      "aria-pressed": String(i === shown),
      title: `Show the clusters of K = ${one.n_clusters}`,
      on: { click: () => state.set({ candidate: i }) },
    });
    button.style.left = `calc(16px + (100% - 32px) * ${i / last})`;
    return button;
  });
  const legend = names.map((name) => make("span", {}, strokeSample(name), criterionName(name)));
  return make(
    "div",
    { class: "k-curves" },
    drawing,
    make("div", { class: "ticks" }, ...ticks),
    make(
      "p",
      { class: "legend" },
      ...legend,
      make("span", { class: "soft", text: "each on its own scale; lowest is best" }),
    ),
  );
}

function criteriaTable(candidates, names, shown, state) {
  const head = ["K", "starts converged", "log-likelihood", ...names.map(criterionName)];
  const lowest = names.map((name) => Math.min(...candidates.map((one) => one.criteria[name])));
  const rows = candidates.map((one, i) => {
    const button = make("button", {
      type: "button",
      class: "plain",
      text: `${one.n_clusters}${one.chosen ? " (chosen)" : ""}`,
      on: { click: () => state.set({ candidate: i }) },
    });
    const cells = names.map((name, c) =>
      make("td", {
        class:
          candidates.length > 1 && one.criteria[name] === lowest[c] ? "number lowest" : "number",
        text: decimal(one.criteria[name]),
      }),
    );
    return make(
      "tr",
      { class: i === shown ? "shown" : null },
      make("th", { scope: "row" }, button),
      make("td", { class: "number", text: `${one.n_converged} of ${one.n_starts}` }),
      make("td", { class: "number", text: decimal(one.log_likelihood) }),
      ...cells,
    );
  });
  return make(
    "table",
    { class: "plain-table" },
    make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { scope: "col", text })))),
    make("tbody", {}, ...rows),
  );
}

function candidateClusters(candidate) {
  const largest = Math.max(...candidate.clusters.map(({ weight }) => weight));
  const items = candidate.clusters.map(({ size, weight, words }) => {
    const bar = make("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${(100 * weight) / largest}%`;
    return make(
      "li",
      {},
      make("span", { class: "number size", text: size === null ? percent(weight) : integer(size) }),
      make("span", { class: "texts" }, bdi(words.join(" ")), make("span", { class: "track" }, bar)),
    );
  });
  return make(
    "section",
    { class: "part" },
    make("h3", { text: `The clusters of K = ${candidate.n_clusters}, by size` }),
    make("p", {
      class: "soft",
      text:
        `${counted(candidate.n_nonzero, "coordinate")} of the prototypes are not zero. ` +
        "Words that weigh most:",
    }),
    make("ol", { class: "cluster-list roomy still" }, ...items),
  );
}
