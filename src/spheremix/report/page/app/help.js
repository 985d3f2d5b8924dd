// How to read this report, how sure it is, and its keys: of what there is in it.

import { UNSTABLE, STABLE } from "../groups/certainty.js";
import { find, make, present } from "../lib/dom.js";
import { counted, integer, isDense, nounOf } from "../lib/format.js";

/** @import { Content } from "../types.d.ts" */

/** @param {Content} content */
export function writeHelp(content) {
  writeSure(content);
  find("help-text").textContent = reading(content).join(" ");
  find("help-map").textContent = moving(content).join(" ");
  const rows = keysOf(content).map(([key, text]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, ...key.split(" ").map((one) => make("kbd", { text: one }))),
      make("td", { text }),
    ),
  );
  find("help-keys").replaceChildren(...rows);
}

// Opens the help at its beginning, wherever it was left.
export function openHelp() {
  const help = find("help");
  help.showModal();
  help.scrollTop = 0;
}

/** @param {Content} content */
function reading(content) {
  const { steps, contrast, documents, tree } = content;
  const noun = nounOf(content);
  const said = content.kind === "words" || contrast;
  return present([
    `On the left are the groups: how many documents each has${said ? ", its words" : ""}, and how sure it is.`,
    documents
      ? "Choose a group to see its documents, then a document to read it."
      : "Choose a group to see more of it.",
    tree &&
      "The slider of groups merges groups that are alike, or divides them. How sure groups and " +
        "documents are is known for the groups of the model only.",
    steps.length > 1 &&
      `The slider of ${noun}s keeps few or many ${noun}s in each group. The groups keep their ` +
        "names, even where their documents change.",
    isDense(content)
      ? "There is no penalty, so every group has every coordinate, and a coordinate means little " +
        "by itself."
      : `In the tab of ${noun}s each row is a group, and each column is a ${noun}: pale on the left ` +
        "those that many groups share, in full colour on the right those of only one group.",
    contrast && "The card of a group lists the words of its texts, which tell what it is about.",
  ]);
}

/** Return what the mouse and the address do. @param {Content} content */
export function moving(content) {
  const { layout, documents } = content;
  const noun = nounOf(content);
  const isMap = layout && documents;
  return present([
    isMap &&
      "On the map of documents turn the wheel to zoom and drag to move. Click a point to read the " +
        "document, or a name to choose the group. To list the documents of a place, draw around " +
        "them: press lasso, or hold Shift.",
    `${isMap ? `In the tab of ${noun}s` : "On the map"} hold Ctrl and turn the wheel to zoom ` +
      "(after a click on it the wheel alone), and drag to move. Click what stands above it to zoom " +
      `to those ${noun}s.`,
    "The browser’s button back goes back in the report. The address keeps what you see: to show it " +
      "to somebody else, send the file and the part of the address after #.",
  ]);
}

/** @param {Content} content */
function keysOf(content) {
  const path = content.steps.length > 1;
  const dataMap = content.rows && content.labels;
  return present([
    path && ["← →", `fewer or more ${nounOf(content)}s, step by step (Shift: ten steps)`],
    path && ["Home", `back to the chosen number of ${nounOf(content)}s`],
    content.tree && [", .", "fewer or more groups"],
    ["↑ ↓", "group above or below"],
    content.documents && ["j k", "next or previous document"],
    ["/", "search"],
    ["+ − 0", "zoom what is shown in, out, or back to all"],
    ["[ ]", "move it to the left or right"],
    dataMap && ["m", `groups or documents as rows of the map of ${nounOf(content)}s`],
    ["d", "dark or light"],
    [
      "Esc",
      content.documents ? "close the document, then take the last filter away" : "clear the mark",
    ],
    ["?", "this help"],
  ]);
}

// What the words and numbers about certainty mean: the part of the help that “How sure?” opens.

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
  const { documents, stability, candidates, advice, model } = content;
  const several = model.n_groups > 1;
  const K = counted(model.n_groups, "group");
  /** @type {(Meaning | false)[]} */
  const found = [
    Boolean(stability ?? advice) && ["redrawn samples", ofSamples(content)],
    candidates.some(({ agreement }) => agreement !== null) && [
      "restarts agree",
      "Of all groups together, in the same documents: how far the search finds the same groups " +
        "when it starts elsewhere. 100 %: always the same; 0 %: no more than by chance (mean " +
        "adjusted Rand index).",
    ],
    Boolean(advice) && [
      "halves agree",
      "Of all groups together: how far the groups that two halves of the documents give are the " +
        "same, on the same scale.",
    ],
    Boolean(stability) && [
      "stability",
      "Of one group: how much of it comes back, on average, in the redrawn samples: the " +
        "documents that are both in it and in the most similar new group, as a share of those in " +
        "either. " +
        `${100 * STABLE} % or more: stable. “?” below ${100 * STABLE} %: look twice. “!” ` +
        `below ${100 * UNSTABLE} %: do not rely on it.`,
    ],
    Boolean(documents?.second_group) && [
      "borderline, probably here, clearly here",
      ofDocuments(content),
    ],
    Boolean(stability) &&
      several && [
        `${nounOf(content)}s in italics`,
        `Of one ${nounOf(content)}: it comes back with its group in fewer than half of the ` +
          "redrawn samples.",
      ],
    Boolean(content.tree) && [
      "at other numbers of groups",
      `All of this is told for the ${K} of the model, with the chosen number of ` +
        `${nounOf(content)}s. Groups that the slider merges or divides have ` +
        "no such numbers of their own.",
    ],
  ];
  return present(found);
}

// Return what is drawn, what is done with it, and when a group counts as the same.
/** @param {Content} content */
function ofSamples({ corpus, stability }) {
  if (!stability)
    return (
      `From the ${integer(corpus.n_kept)} documents as many are drawn at random, so that some come ` +
      "twice or more and about a third do not come at all. Then the groups are searched for anew, " +
      "from another start, and all documents are put into the groups that are found."
    );
  return (
    `The ${integer(corpus.n_kept)} documents are cut into thirds at random. In each third the groups ` +
    "are searched for anew, and all documents are put into the groups that are found. A third " +
    "differs from all documents as much as other documents would. This is done with " +
    `${stability.n_replicates} thirds. A document is in its group in a ` +
    "sample if one of the new groups has this document and more than half of its group, and these " +
    "are more than half of the new group."
  );
}

/** @param {Content} content */
function ofDocuments({ stability }) {
  const n = stability?.n_replicates ?? 0;
  const rule = stability
    ? `it is in its group in fewer than half of the ${n} redrawn samples. ` +
      "Clearly here: it is there in at least " +
      `${Math.ceil(STABLE * n)} of ${n}. Probably here: all others.`
    : "the odds for its group in this fit are below 9 to 1. Clearly here: they are 99 to 1 or more. " +
      "Probably here: all others.";
  const order = stability
    ? "by the samples in which they are in their group, and then by the odds"
    : "by their odds";
  return (
    `Of one document. Borderline, do not rely on its group: ${rule} In the order “least sure” ` +
    `borderline documents come first, ${order}; documents that are equal in both are in the order ` +
    "of the file."
  );
}
