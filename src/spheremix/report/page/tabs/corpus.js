// What was read, what was done to it, and how the model was made.

import { chooseModelGroup } from "../groups/grouping.js";
import { bdi, find, make, part, present, softLine } from "../lib/dom.js";
import {
  counted,
  criterionName,
  decimal,
  hasPenalty,
  integer,
  nounOf,
  shownOfAll,
} from "../lib/format.js";

/** @import { App, Content, Corpus, Model, Path, Remark } from "../types.d.ts" */

const SHOWN = 200; // documents set aside

/** @typedef {[what: string, value: string]} Pair */

/** @param {App} app */
export function mountCorpus(app) {
  const { content } = app;
  const { corpus, remarks } = content;
  const said = (/** @type {boolean} */ wanted) =>
    remarks.filter(({ warning }) => warning === wanted).map((one) => remarkLine(app, one));
  find("corpus").replaceChildren(
    ...present([
      lines("Warnings", said(true), "warnings"),
      lines("Remarks", said(false)),
      section("The corpus", corpusFacts(content)),
      section("How the texts were prepared", corpus.done),
      section("The model", modelFacts(content)),
      lines(
        "Notes",
        corpus.notes.map((note) => bdi(note)),
      ),
      setAside(corpus),
    ]),
  );
}

/** @param {Content} content @returns {Pair[]} */
function corpusFacts(content) {
  const { corpus, documents, kind, rows, labels } = content;
  const read = documents?.text
    ? "texts, shown in the reader"
    : kind === "coordinates"
      ? "coordinates; no texts"
      : "counts of words; no texts";
  const shown = shownText(content);
  /** @type {(Pair | null)[]} */
  const facts = [
    corpus.source ? ["source", corpus.source] : null,
    corpus.format ? ["format", corpus.format] : null,
    ["documents", integer(corpus.n_documents)],
    ["kept", integer(corpus.n_kept)],
    ["set aside", integer(corpus.n_set_aside)],
    corpus.sampled ? ["in this report", corpus.sampled] : null,
    ["what a document is", read],
    rows && labels ? null : ["data map", noDataMap(content)],
    shown ? [`${nounOf(content)}s in this report`, shown] : null,
  ];
  return present(facts);
}

/** Return which columns are shown, where the page has not room for all. @param {Content} content */
function shownText(content) {
  const shown = shownOfAll(content);
  if (!shown) return null;
  const which = content.path ? "stay longest on the path" : "have the largest weights";
  return `${shown}: those that ${which}. Numbers of ${nounOf(content)}s on this page count all of them.`;
}

/** @param {Content} content */
function noDataMap({ kind, documents }) {
  if (!documents) return "none, because the report was made without the rows of the documents";
  return kind === "coordinates"
    ? "none, because rows of coordinates are dense and are not put into the report"
    : "none, because the rows are not in the report";
}

// Why a path ended, or EM where there is none: the words of the model, in plain ones.
/** @type {Record<string, string>} */
const ENDS = {
  maximal_sparsity: "every prototype is as sparse as it can be",
  max_sparsity: "the requested sparsity was reached",
  max_steps: "the maximum number of steps was reached",
  grid_end: "the last of the given values of β was reached",
  interrupted: "it was interrupted",
  no_restart: "no random start led to groups at the next β",
  collapsed: "at the next β a group would have no documents",
  vanished: "at the next β a prototype would have no direction",
  zero_prototype: "at the next β a prototype would be zero",
  converged: "it converged",
  max_iter: "the maximum number of iterations was reached before it converged",
};

/** @param {Model} model @param {Path | null} path @returns {Pair} */
function endFact({ status }, path) {
  const what = path ? "why the path ends" : "why the fit ended";
  return [what, Object.hasOwn(ENDS, status) ? `${ENDS[status]} (${status})` : status];
}

/** @param {Content} content @returns {Pair[]} */
function modelFacts(content) {
  const { model, candidates, kind, path } = content;
  const penalised = hasPenalty(content);
  const by = (/** @type {string | null} */ criterion) =>
    criterion ? `, chosen by ${criterionName(criterion)}` : "";
  const refitted = model.relaxed
    ? "; it chooses the words, whose weights are fitted without it"
    : "";
  const beta = `${decimal(model.beta)}${by(model.criterion)}${refitted}`;
  const chosenK = by(candidates.length > 1 ? model.k_criterion : null);
  /** @type {(Pair | null)[]} */
  const facts = [
    ["groups", `${model.n_groups}${chosenK}`],
    [`${nounOf({ kind })}s`, integer(model.n_words)],
    ["β, the penalty", penalised ? beta : "none"],
    ["κ, the concentration", typeof model.kappa === "number" ? decimal(model.kappa) : model.kappa],
    ["log-likelihood", decimal(model.log_likelihood)],
    endFact(model, path),
    model.seed === null ? null : ["seed", String(model.seed)],
    ...model.agreement.map(
      ({ column, ari, nmi }) =>
        /** @type {Pair} */ ([
          `agreement with the labels ${column}`,
          `ARI ${decimal(ari)}, NMI ${decimal(nmi)}`,
        ]),
    ),
  ];
  return present(facts);
}

/** @param {string} title @param {Pair[]} pairs */
function section(title, pairs) {
  if (!pairs.length) return null;
  const items = pairs.flatMap(([what, value]) => [
    make("dt", { text: what }),
    make("dd", {}, bdi(value)),
  ]);
  return part(title, "", make("dl", {}, ...items));
}

// Return a remark in which the groups it names are buttons that choose them.
/** @param {App} app @param {Remark} remark */
function remarkLine(app, { text, groups }) {
  const line = make("bdi");
  for (const { words, group } of remarkParts(text, groups)) {
    const choose = () => chooseModelGroup(app, group);
    const button = { type: "button", class: "plain", title: "Show this group" };
    line.append(
      group < 0 ? words : make("button", { ...button, on: { click: choose } }, bdi(words)),
    );
  }
  return line;
}

// Return a text cut where it names groups; what lies between has the group -1.
/** @param {string} text @param {Remark["groups"]} groups in the order of the text */
export function remarkParts(text, groups) {
  const parts = [];
  let rest = text;
  for (const [group, words] of groups) {
    const at = rest.indexOf(words);
    if (at < 0) continue;
    parts.push({ words: rest.slice(0, at), group: -1 }, { words, group });
    rest = rest.slice(at + words.length);
  }
  return [...parts, { words: rest, group: -1 }].filter(({ words }) => words);
}

/** @param {string} title @param {HTMLElement[]} said */
function lines(title, said, name = "") {
  if (!said.length) return null;
  return make(
    "section",
    { class: `part ${name}` },
    make("h3", { text: title }),
    make("ul", {}, ...said.map((line) => make("li", {}, line))),
  );
}

/** @param {Corpus} corpus */
function setAside({ set_aside: documents, n_set_aside: n }) {
  if (!documents.length) return null;
  const items = documents
    .slice(0, SHOWN)
    .map(([id, reason]) => make("li", {}, bdi(id), `: ${reason}`));
  const more = n - items.length;
  return part(
    "Documents set aside",
    "",
    make("ul", {}, ...items),
    more > 0 ? softLine(`and ${counted(more, "more document")}.`) : null,
  );
}
