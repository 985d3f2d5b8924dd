// The line that says what this is.

import { bdi, find, make } from "./dom.js";
import { counted, criterionName, decimal, nounOf, percent } from "./format.js";

export function mountHeader({ content, state }) {
  const { corpus, model, steps } = content;
  find("title").replaceChildren(bdi(content.title));
  const by = (criterion) => (criterion ? ` (${criterionName(criterion)})` : "");
  const facts = [
    corpus.n_kept === null || corpus.n_kept === undefined
      ? null
      : counted(corpus.n_kept, "document"),
    counted(model.n_words, nounOf(content)),
    `K = ${model.n_clusters}${(content.candidates || []).length > 1 ? by(model.k_criterion) : ""}`,
  ].filter(Boolean);
  const beta = make("span", { id: "beta-fact" });
  const sparsity = make("span");
  const back = make("button", {
    type: "button",
    class: "plain",
    text: "back to it",
    hidden: true,
    on: { click: () => state.set({ step: content.chosen }) },
  });
  const spans = [...facts.map((text) => make("span", { text })), beta, sparsity];
  find("facts").replaceChildren(...spans, back);
  state.follow(["step"], () => {
    const entry = steps[state.now.step];
    const moved = state.now.step !== content.chosen;
    const chosen = steps[content.chosen].beta;
    beta.textContent = moved
      ? `β = ${decimal(entry.beta)}; ${decimal(chosen)} was chosen${by(model.criterion)}`
      : `β = ${decimal(entry.beta)}${by(model.criterion)}`;
    back.hidden = !moved;
    sparsity.textContent = `sparsity ${percent(entry.sparsity)}`;
  });
}
