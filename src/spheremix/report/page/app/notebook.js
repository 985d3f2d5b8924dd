// The page in the widget of a notebook, which knows what is chosen here.

import { chosenId } from "../groups/grouping.js";

/** @import { App, Key } from "../types.d.ts" */

const FRAME = "spheremix-widget"; // the name of the frame, as the widget gives it
/** @type {Key[]} */
const CHOSEN_BY = ["group", "node", "cut", "step", "scope", "rival", "label"];
CHOSEN_BY.push("word", "from", "to", "text", "lasso", "edited");

// Who put the page's own text into a frame has all of it: nothing is told to anybody else.
/** @param {App} app @param {() => number[]} found the documents that pass all filters */
export function mountNotebook({ content, state, groups }, found) {
  if (window.name !== FRAME || location.protocol !== "about:") return;
  state.followAtRest(CHOSEN_BY, () => {
    const whole = groups().byId.get(chosenId(state.now))?.whole ?? -1;
    const documents = found().map((i) => content.documents?.id[i]);
    parent.postMessage({ group: whole < 0 ? null : whole, documents }, "*");
  });
}
