// What the words and numbers about certainty mean: the part of the help that “How sure?” opens.

import { find, make, present } from "./dom.js";
import { counted, nounOf } from "./format.js";
import { FAIR, FIRM } from "./certainty.js";

/** @import { Content } from "./types.d.ts" */

/** @typedef {[term: string, meaning: string]} Meaning */

/** @param {Content} content */
export function writeSure(content) {
  const items = meanings(content).flatMap(([term, meaning]) => [
    make("dt", { text: term }),
    make("dd", { text: meaning }),
  ]);
  find("help-sure").replaceChildren(...items);
  find("help-sure-title").hidden = !items.length;
}

// Opens the help at this part.
export function openSure() {
  find("help").showModal();
  find("help-sure-title").scrollIntoView({ block: "start" });
}

/** @param {Content} content @returns {Meaning[]} */
export function meanings(content) {
  const { documents, firmness, candidates, advice, model } = content;
  const several = model.n_clusters > 1;
  const K = counted(model.n_clusters, "group");
  /** @type {(Meaning | false)[]} */
  const found = [
    candidates.some(({ agreement }) => agreement !== null) && [
      "restarts agree",
      "Of all groups together, in the same documents: how far the search finds the same groups " +
        "when it starts elsewhere. 100 %: always the same; 0 %: no more than by chance (mean " +
        "adjusted Rand index).",
    ],
    Boolean(advice) && [
      "redrawn samples agree",
      "Of all groups together, in other samples of the documents, on the same scale.",
    ],
    Boolean(firmness) && [
      "found again",
      "Of one group: how much of it is found again, on average, in redrawn samples of the " +
        `documents. ${100 * FIRM} % or more: firm. “?” below ${100 * FIRM} %: look twice. “!” ` +
        `below ${100 * FAIR} %: do not rely on it.`,
    ],
    Boolean(documents?.runner_up) && [
      "borderline, probably here, clearly here",
      ofDocuments(content),
    ],
    Boolean(firmness) &&
      several && [
        `${nounOf(content)}s in italics`,
        `Of one ${nounOf(content)}: it is found again with its group in fewer than half of the ` +
          "redrawn samples.",
      ],
    Boolean(content.tree) && [
      "at other numbers of groups",
      `All of this is told for the ${K} of the model. Groups that the slider merges or divides have ` +
        "no such numbers of their own.",
    ],
  ];
  return present(found);
}

/** @param {Content} content */
function ofDocuments({ firmness }) {
  const n = firmness?.n_replicates ?? 0;
  const rule = firmness
    ? `it stays with its group in fewer than half of the ${n} redrawn samples, or the odds for its ` +
      "group in this fit are below 9 to 1. Clearly here: it stays in at least " +
      `${Math.ceil(FIRM * n)} of ${n}. Probably here: all others.`
    : "the odds for its group in this fit are below 9 to 1. Clearly here: they are 99 to 1 or more. " +
      "Probably here: all others.";
  return `Of one document. Borderline, do not rely on its group: ${rule}`;
}
