// What was read, what was done to it, and how the model was made.

import { bdi, find, make } from "./dom.js";
import { counted, criterionName, decimal, hasPenalty, integer, nounOf, shownOfAll } from "./format.js";

const SHOWN = 200; // documents set aside

export function mountCorpus({ content }) {
  const { corpus } = content;
  find("corpus").replaceChildren(
    ...[
      facts("The corpus", corpusFacts(content)),
      facts("What was done to it", corpus.done || []),
      facts("The model", modelFacts(content)),
      notes(corpus.notes || []),
      setAside(corpus),
    ].filter(Boolean),
  );
}

function corpusFacts(content) {
  const { corpus, documents, kind, rows, labels } = content;
  const texts = documents && documents.text;
  const read = texts
    ? "texts, shown in the reader"
    : kind === "coordinates"
      ? "coordinates; no texts"
      : "counts of words; no texts";
  return [
    ["source", corpus.source],
    ["format", corpus.format],
    ["documents", integerOrNone(corpus.n_documents)],
    ["kept", integerOrNone(corpus.n_kept)],
    ["set aside", integerOrNone(corpus.n_set_aside)],
    ["what a document is", read],
    ["data map", rows && labels ? null : noDataMap(kind, documents)],
    [`${nounOf(content)}s in this report`, shownText(content)],
  ].filter(([, value]) => value !== null && value !== undefined && value !== "");
}

// Which columns are shown, where the page has not room for all.
function shownText(content) {
  const shown = shownOfAll(content);
  if (!shown) return null;
  const which = content.path ? "stay longest on the path" : "have the largest weights";
  return `${shown}: those that ${which}. Numbers of ${nounOf(content)}s on this page count all of them.`;
}

function noDataMap(kind, documents) {
  if (!documents) return "none: the report was made without the rows of the documents";
  return kind === "coordinates"
    ? "none: rows of coordinates are dense, and are not put into the report"
    : "none: the rows are not in the report";
}

function integerOrNone(value) {
  return value === null || value === undefined ? null : integer(value);
}

// Why a path ended, or EM where there is none: the words of the model, in plain ones.
const ENDS = {
  maximal_sparsity: "each prototype has lost all it can lose",
  max_sparsity: "the sparsity that was asked for is reached",
  max_steps: "the most steps that were allowed are taken",
  grid_end: "the last of the given β is reached",
  interrupted: "it was interrupted",
  no_restart: "no start gave clusters at the next β",
  collapsed: "at the next β a cluster has no documents left",
  vanished: "at the next β a prototype has no direction left",
  zero_prototype: "at the next β a prototype has nothing left",
  converged: "it converged",
  max_iter: "the most iterations that were allowed are made, before it converged",
};

function endFact({ status }, path) {
  const what = path ? "why the path ends" : "why the fit ended";
  return [what, Object.hasOwn(ENDS, status) ? `${ENDS[status]} (${status})` : status];
}

function modelFacts(content) {
  const { model, candidates, kind, path } = content;
  const penalised = hasPenalty(content);
  const by = (criterion) => (criterion ? `, chosen by ${criterionName(criterion)}` : "");
  const agreement =
    model.agreement && `ARI ${decimal(model.agreement.ari)}, NMI ${decimal(model.agreement.nmi)}`;
  return [
    [
      "clusters",
      `${model.n_clusters}${by(candidates && candidates.length > 1 && model.k_criterion)}`,
    ],
    [`${nounOf({ kind })}s`, integer(model.n_words)],
    ["β, the penalty", penalised ? `${decimal(model.beta)}${by(model.criterion)}` : "none"],
    ["κ, the concentration", typeof model.kappa === "number" ? decimal(model.kappa) : model.kappa],
    ["log-likelihood", decimal(model.log_likelihood)],
    endFact(model, path),
    ["seed", model.seed === null || model.seed === undefined ? null : String(model.seed)],
    ["agreement with the labels", agreement],
  ].filter(([, value]) => value !== null && value !== undefined);
}

function facts(title, pairs) {
  if (!pairs.length) return null;
  const items = pairs.flatMap(([what, value]) => [
    make("dt", { text: what }),
    make("dd", {}, bdi(String(value))),
  ]);
  return make("section", { class: "part" }, make("h3", { text: title }), make("dl", {}, ...items));
}

function notes(lines) {
  if (!lines.length) return null;
  return make(
    "section",
    { class: "part" },
    make("h3", { text: "Notes" }),
    make("ul", {}, ...lines.map((line) => make("li", {}, bdi(line)))),
  );
}

function setAside({ set_aside: documents }) {
  if (!documents || !documents.length) return null;
  const items = documents
    .slice(0, SHOWN)
    .map(([id, reason]) => make("li", {}, bdi(id), `: ${reason}`));
  const more = documents.length - items.length;
  return make(
    "section",
    { class: "part" },
    make("h3", { text: "Documents set aside" }),
    make("ul", {}, ...items),
    more > 0 ? make("p", { class: "soft", text: `and ${counted(more, "more document")}.` }) : null,
  );
}
