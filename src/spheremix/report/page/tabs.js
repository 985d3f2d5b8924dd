// What stands beside the clusters: one of the two maps, the other K, or the corpus.

import { find, make } from "./dom.js";
import { nounOf } from "./format.js";

/** @import { App, Tab } from "./types.d.ts" */

/** @param {App} app */
export function mountTabs({ content, state }) {
  /** @type {[Tab, string, string][]} */
  const all = [
    ["prototypes", "Prototype map", `Each row is a cluster, each column is a ${nounOf(content)}`],
    ["data", "Data map", "Each row is a document, each column is a word, in the same order"],
    ["candidates", "Other K", "The other numbers of clusters that were tried"],
    ["corpus", "Corpus", "What was read, and how it was prepared"],
  ];
  const tabs = all.filter(([name]) => name !== "data" || (content.rows && content.labels));
  /** @type {Map<Tab, HTMLElement>} */
  const buttons = new Map(
    tabs.map(([name, text, title]) => [
      name,
      make("button", {
        type: "button",
        role: "tab",
        id: `tab-${name}`,
        text,
        title,
        "aria-controls": panelOf(name),
        on: { click: () => state.set({ tab: name }) },
      }),
    ]),
  );
  const bar = find("tabs");
  bar.replaceChildren(...buttons.values());
  bar.addEventListener("keydown", (event) => {
    const names = [...buttons.keys()];
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const next = names[(names.indexOf(state.now.tab) + by + names.length) % names.length];
    state.set({ tab: next });
    buttons.get(next)?.focus();
  });
  state.follow(["tab"], () => {
    const shown = state.now.tab;
    for (const [name, button] of buttons) {
      button.setAttribute("aria-selected", String(name === shown));
      button.tabIndex = name === shown ? 0 : -1;
    }
    for (const id of ["map-panel", "candidates", "corpus"]) find(id).hidden = id !== panelOf(shown);
    find("map-panel").setAttribute("aria-labelledby", `tab-${shown}`);
    find("zoom").hidden = panelOf(shown) !== "map-panel";
  });
}

/** @param {Tab} name */
function panelOf(name) {
  return name === "prototypes" || name === "data" ? "map-panel" : name;
}
