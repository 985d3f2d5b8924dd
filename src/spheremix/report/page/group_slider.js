// How many groups: a slider along the tree.

import { find } from "./dom.js";
import { counted } from "./format.js";
import { chosenId, nearestGroup } from "./grouping.js";

/** @import { App } from "./types.d.ts" */

// Show so many groups: along the tree where it has them, else as another candidate.
/** @param {App} app @param {number} m */
export function openCut(app, m) {
  const { content, state } = app;
  const { tree, candidates, model } = content;
  if (m === model.n_clusters) setCut(app, 0);
  else if (tree && m >= 2 && m <= tree.leaves) setCut(app, m);
  else
    state.set({
      tab: "candidates",
      candidate: candidates.findIndex((one) => one.n_clusters === m),
    });
}

// The chosen group becomes the one that has most of its documents. A merged group has no path: the
// slider of words goes back to its chosen place.
/** @param {App} app @param {number} cut */
export function setCut(app, cut) {
  const { content, state } = app;
  if (cut === state.now.cut) return;
  const step = cut ? content.chosen : state.now.step;
  const id = nearestGroup(app.groups(), chosenId(state.now), app.groupsAt({ cut, step }));
  state.set({ cut, step, [cut ? "node" : "cluster"]: id, compared: -1 });
}

/** @param {App} app */
export function mountGroupSlider(app) {
  const { content, state } = app;
  const { tree, model } = content;
  if (!tree || tree.leaves < 3 || !content.documents?.leaf) return;
  const range = find("cut");
  find("cut-slider").hidden = false;
  range.max = String(tree.leaves);
  find("cut-most").textContent = String(tree.leaves);
  range.title = "How many groups, merged along the tree";
  range.addEventListener("input", () => {
    const m = Number(range.value);
    setCut(app, m === model.n_clusters ? 0 : m);
  });
  state.follow(["cut"], () => {
    const m = state.now.cut || model.n_clusters;
    range.value = String(m);
    range.setAttribute("aria-valuetext", counted(m, "group"));
    find("cut-now").textContent = String(m);
  });
}

/** @param {App} app @param {number} by */
export function moveCut(app, by) {
  const { tree, model, documents } = app.content;
  const m = (app.state.now.cut || model.n_clusters) + by;
  if (tree && documents?.leaf && m >= 2 && m <= tree.leaves) openCut(app, m);
}
