// The line that says what this is.

import { bdi, find, make } from "./dom.js";
import {
  counted,
  criterionName,
  decimal,
  hasPenalty,
  isDense,
  nounOf,
  percent,
  shownOfAll,
} from "./format.js";

/** @import { App, Step } from "./types.d.ts" */

/** @param {App} app */
export function mountHeader({ content, state, stepOf }) {
  const { corpus, model, steps } = content;
  find("title").replaceChildren(bdi(content.title));
  const by = (/** @type {string | null} */ criterion) =>
    criterion ? ` (${criterionName(criterion)})` : "";
  const facts = [
    counted(corpus.n_kept, "document"),
    shownOfAll(content) ? `${shownOfAll(content)} shown` : counted(model.n_words, nounOf(content)),
    `K = ${model.n_clusters}${content.candidates.length > 1 ? by(model.k_criterion) : ""}`,
  ];
  const beta = make("span", { id: "beta-fact" });
  const sparsity = make("span", { hidden: isDense(content) });
  const drift = make("span");
  const back = make("button", {
    type: "button",
    class: "plain",
    text: "back to it",
    on: { click: () => state.set({ step: content.chosen }) },
  });
  const away = make("span", { id: "away" }, drift, " ", back);
  find("facts").replaceChildren(
    ...facts.map((text) => make("span", { text })),
    beta,
    sparsity,
    away,
  );
  state.follow(["step"], () => {
    const entry = steps[state.now.step];
    const moved = state.now.step !== content.chosen;
    const chosen = steps[content.chosen].beta;
    if (!hasPenalty(content)) beta.textContent = "no penalty";
    else if (moved)
      beta.textContent = `β = ${decimal(entry.beta)}; ${decimal(chosen)} was chosen${by(model.criterion)}`;
    else beta.textContent = `β = ${decimal(entry.beta)}${by(model.criterion)}`;
    away.hidden = !moved;
    if (moved && content.labels)
      drift.textContent = drifted(stepOf(state.now.step), stepOf(content.chosen));
    sparsity.textContent = `sparsity ${percent(entry.sparsity)}`;
  });
}

// Clusters keep their names along the path, whatever becomes of them: this tells how far to trust
// the names.
/** @param {Step} step @param {Step} chosen */
function drifted({ labels }, chosen) {
  let n = 0;
  labels.forEach((k, i) => {
    if (k !== chosen.labels[i]) n++;
  });
  const share = n / labels.length;
  const few = n === 1 ? "1 document has" : `${n || "no"} documents have`;
  const which = share < 0.01 ? few : `${percent(share)} of the documents have`;
  return `${which} changed cluster since the chosen β`;
}
