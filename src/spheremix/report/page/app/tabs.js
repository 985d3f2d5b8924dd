// What stands beside the groups: the map of documents, words, labels, time, other numbers, the corpus.

import { find, make } from "../lib/dom.js";
import { nounOf } from "../lib/format.js";
import { isTime } from "../tabs/effects.js";

/** @import { App, Content, Tab } from "../types.d.ts" */

const PANELS = ["document-map", "map-panel", "labels", "time", "candidates", "corpus"];

// Return the tabs of which there is something to show; the first one opens.
/** @param {Content} content @returns {[Tab, string, string][]} */
export function tabsOf(content) {
  const { documents } = content;
  const noun = nounOf(content);
  /** @type {[Tab, string, string, boolean][]} */
  const all = [
    ["map", "Map", "Each point is a document", Boolean(content.layout && documents)],
    [
      "prototypes",
      content.kind === "coordinates" ? "Coordinates" : "Words",
      `Each row is a group, each column is a ${noun}`,
      true,
    ],
    [
      "labels",
      "Labels",
      "Labels of the documents in each group",
      Boolean(documents?.label_columns || content.effects?.columns.some((one) => !isTime(one))),
    ],
    ["time", "Time", "Documents of each group over time", hasTime(content)],
    ["candidates", "Other numbers", "Other numbers of groups", true],
    ["corpus", "Corpus", "What was read, how it was prepared, and remarks", true],
  ];
  const shown = all.filter(([, , , there]) => there);
  /** @type {[Tab, string, string][]} */
  const found = shown.map(([name, text, title]) => [name, text, title]);
  // Coordinates mean little by themselves: they come late, where there is anything else to see.
  const at = found.findIndex(([name]) => name === "prototypes");
  if (content.kind === "coordinates" && found.length > 3)
    found.splice(found.length - 2, 0, ...found.splice(at, 1));
  return found;
}

/** @param {Content} content */
function hasTime({ documents }) {
  return Boolean(documents?.date?.some((date) => /^\d{4}/u.test(date ?? "")));
}

/** @param {App} app */
export function mountTabs({ content, state }) {
  const tabs = tabsOf(content);
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
    const next = names[(names.indexOf(tabOf(state.now.tab)) + by + names.length) % names.length];
    state.set({ tab: next });
    buttons.get(next)?.focus();
  });
  state.follow(["tab"], () => {
    const shown = state.now.tab;
    for (const [name, button] of buttons) {
      button.setAttribute("aria-selected", String(name === tabOf(shown)));
      button.tabIndex = name === tabOf(shown) ? 0 : -1;
    }
    for (const id of PANELS) find(id).hidden = id !== panelOf(shown);
    find("map-panel").setAttribute("aria-labelledby", "tab-prototypes");
    find("zoom").hidden = panelOf(shown) !== "map-panel";
  });
}

/** Return the tab of a view: both maps of words are in one. @param {Tab} name */
function tabOf(name) {
  return name === "data" ? "prototypes" : name;
}

/** @param {Tab} name */
function panelOf(name) {
  if (name === "map") return "document-map";
  return tabOf(name) === "prototypes" ? "map-panel" : name;
}
