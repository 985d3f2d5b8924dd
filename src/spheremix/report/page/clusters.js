// Clusters by size, with their names and their most characteristic words at this step.

import { bdi, find, make } from "./dom.js";
import { counted, decimal, integer } from "./format.js";
import { characteristicWords } from "./words.js";

/** @import { App, Content, State, Step } from "./types.d.ts" */

const DENSE = 54; // pixels of a cluster with one line of words
const ROOMY = 72; // with two of them

/** @param {App} app */
export function mountClusters({ content, state, stepOf }) {
  const list = find("cluster-list");
  const K = content.model.n_clusters;
  const space = () => {
    const each = (innerWidth > 760 ? Math.min(860, innerHeight - 84) - 40 : 12 * DENSE) / K;
    list.classList.toggle("roomy", each >= ROOMY);
    list.classList.toggle("dense", each >= DENSE && each < ROOMY);
  };
  addEventListener("resize", space);
  space();
  const items = content.names.map((name, k) => clusterItem(name, k, state));
  const chosen = `named at β = ${decimal(content.steps[content.chosen].beta)}`;
  const named = make("span", { class: "note", text: chosen });
  find("cluster-title").replaceChildren(`${counted(K, "cluster")}, by size`, named);

  state.follow(["step"], () => {
    const step = stepOf(state.now.step);
    named.hidden = step.exact;
    const largest = Math.max(...step.entry.sizes);
    for (const k of step.clusters) {
      const item = items[k];
      item.size.textContent = integer(step.entry.sizes[k]);
      item.bar.style.width = `${(100 * step.entry.sizes[k]) / (largest || 1)}%`;
      item.words.textContent = moreWords(content, step, k);
    }
    // Only when the order changes: moving elements costs more than writing in them.
    const ordered = step.clusters.map((k) => items[k].option);
    if (ordered.some((option, i) => list.children[i] !== option)) list.replaceChildren(...ordered);
  });
  state.follow(["cluster"], () => {
    items.forEach(({ option }, k) =>
      option.setAttribute("aria-selected", String(k === state.now.cluster)),
    );
    const { option } = items[state.now.cluster];
    list.setAttribute("aria-activedescendant", option.id);
    reveal(list, option);
  });
}

/** @param {string} name @param {number} k @param {State} state */
function clusterItem(name, k, state) {
  const size = make("span", { class: "size number" });
  const bar = make("span", { class: "bar", "aria-hidden": "true" });
  const words = bdi("", { class: "words" });
  const option = make(
    "li",
    {
      role: "option",
      id: `cluster-${k}`,
      "aria-selected": "false",
      on: { click: () => state.set({ cluster: k }) },
    },
    size,
    make(
      "span",
      { class: "texts" },
      bdi(name, { class: "name" }),
      words,
      make("span", { class: "track" }, bar),
    ),
  );
  return { option, size, bar, words };
}

// The words that are not in the name already.
/** @param {Content} content @param {Step} step @param {number} k */
function moreWords(content, step, k) {
  if (content.kind === "coordinates") {
    const contrast = content.contrast ? content.contrast[k].map(([word]) => word) : [];
    const named = new Set(content.names[k].split(" "));
    return contrast
      .filter((word) => !named.has(word))
      .slice(0, 8)
      .join(" ");
  }
  const named = new Set(content.names[k].split(" "));
  const words = characteristicWords(content, step, k, 12).map((j) => content.words[j]);
  return words
    .filter((word) => !named.has(word))
    .slice(0, 8)
    .join(" ");
}

// Within the list only: the page itself stays where it is.
/** @param {HTMLElement} list @param {HTMLElement} option */
function reveal(list, option) {
  const inner = option.getBoundingClientRect();
  const outer = list.getBoundingClientRect();
  if (inner.top < outer.top) list.scrollTop -= Math.ceil(outer.top - inner.top);
  else if (inner.bottom > outer.bottom) list.scrollTop += Math.ceil(inner.bottom - outer.bottom);
}

/** @param {App} app @param {number} by */
export function moveCluster({ state, stepOf }, by) {
  const { clusters } = stepOf(state.now.step);
  const at = clusters.indexOf(state.now.cluster) + by;
  if (at >= 0 && at < clusters.length) state.set({ cluster: clusters[at] });
}
