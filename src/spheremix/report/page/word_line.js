// The word that is marked on the map: brought into sight, and told in a line above it.

import { bdi, find, make } from "./dom.js";
import { atThisBeta, counted } from "./format.js";
import { createColumns, zoomTo } from "./columns.js";
import { sharers } from "./words.js";

/** @import { App } from "./types.d.ts" */

/** @param {App} app @param {number} j */
export function showWord({ state, stepOf }, j) {
  const step = stepOf(state.now.step);
  const share = createColumns(step, [0, 1], 0, 1).share(step.places[j] + 0.5);
  const [from, to] = state.now.zoom;
  const half = (to - from) / 2;
  const seen = share > from && share < to;
  const isMap = state.now.tab === "prototypes" || state.now.tab === "data";
  state.set({
    word: j,
    ...(!isMap && { tab: "prototypes" }),
    ...(!seen && { zoom: zoomTo(share - half, share + half, step) }),
  });
  find("maps").scrollIntoView({ block: "nearest" });
}

/** @param {App} app */
export function mountWordLine({ content, state, stepOf }) {
  const line = find("word-line");
  state.follow(["word", "step"], () => {
    const j = state.now.word;
    line.hidden = j < 0;
    if (j < 0) return;
    const step = stepOf(state.now.step);
    const having = sharers(step, j);
    const names = having.slice(0, 4).map((k) =>
      make(
        "button",
        {
          type: "button",
          class: "plain",
          on: { click: () => state.set({ cluster: k, scope: "cluster" }) },
        },
        bdi(content.names[k]),
      ),
    );
    const clear = make("button", {
      type: "button",
      class: "plain",
      text: "clear",
      on: { click: () => state.set({ word: -1 }) },
    });
    const told = having.length
      ? ` is in ${having.length} of ${counted(step.K, "group")}: `
      : ` is in no group${atThisBeta(content)}. `;
    const separated = names.flatMap((name, i) => (i ? [", ", name] : [name]));
    const more = having.length - names.length;
    line.replaceChildren(
      bdi(content.words[j], { class: "strong" }),
      told,
      ...separated,
      more > 0 ? ` and ${more} more. ` : " ",
      clear,
    );
  });
}
