// The keyboard: everything that is looked at often has a key.

import { moveCut } from "../groups/sliders.js";
import { find } from "../lib/dom.js";
import { openHelp, writeHelp } from "./help.js";

/** @import { App, Zoomable } from "../types.d.ts" */

const NEARER = 1.6; // times, with each key

/**
 * @param {App} app
 * @param {Record<"moveGroup" | "moveDocument", (by: number) => void> &
 *   { takeLast: () => boolean, shownMap: () => Zoomable | null }} actions
 */
export function mountKeys(app, actions) {
  const { content, state } = app;
  writeHelp(content);
  find("help-button").addEventListener("click", openHelp);
  find("help-close").addEventListener("click", () => find("help").close());

  const last = content.steps.length - 1;
  const step = (/** @type {number} */ by) =>
    state.set({ step: Math.max(0, Math.min(last, state.now.step + by)), cut: 0 });
  const other = () => state.set({ tab: state.now.tab === "data" ? "prototypes" : "data" });
  // Within the list of documents, the arrows go along it.
  const along = (/** @type {KeyboardEvent} */ { target }, /** @type {number} */ by) =>
    target === find("document-list") ? actions.moveDocument(by) : actions.moveGroup(by);
  /** @type {Record<string, ((event: KeyboardEvent) => void) | null>} */
  const table = {
    // As the slider moves: a later step has fewer words.
    ArrowLeft: (event) => step(event.shiftKey ? 10 : 1),
    ArrowRight: (event) => step(event.shiftKey ? -10 : -1),
    Home: () => state.set({ step: content.chosen, cut: 0 }),
    ArrowUp: (event) => along(event, -1),
    ArrowDown: (event) => along(event, 1),
    j: () => actions.moveDocument(1),
    k: () => actions.moveDocument(-1),
    "/": () => find("search").focus(),
    "+": () => actions.shownMap()?.zoom(NEARER),
    "=": () => actions.shownMap()?.zoom(NEARER),
    "-": () => actions.shownMap()?.zoom(1 / NEARER),
    0: () => actions.shownMap()?.showAll(),
    "[": () => actions.shownMap()?.pan(-0.25),
    "]": () => actions.shownMap()?.pan(0.25),
    m: content.rows && content.labels ? other : null,
    d: () => find("dark").click(),
    // The document that is read, then the filters, the last one first.
    Escape: () => {
      if (state.now.document >= 0) state.set({ document: -1 });
      else actions.takeLast();
    },
    ",": () => moveCut(app, -1),
    ".": () => moveCut(app, 1),
    "?": openHelp,
  };
  document.addEventListener("keydown", (event) => {
    if (
      event.defaultPrevented ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      document.querySelector("dialog[open]")
    )
      return;
    if (event.target instanceof Element && keepsKey(event.target, event.key)) return;
    const action = Object.hasOwn(table, event.key) ? table[event.key] : null;
    if (!action) return;
    event.preventDefault();
    action(event);
  });
}

// Return whether an element keeps a key: fields all, the slider and what scrolls the arrows.
/** @param {Element} target @param {string} key */
function keepsKey(target, key) {
  if (target.matches("input[type=range]")) return /^(Arrow|Home|End|Page)/u.test(key);
  if (target.matches(".scroll, .panel-text")) return /^(Arrow(Up|Down)|Home|End|Page)/u.test(key);
  return target.matches("input, textarea, select");
}
