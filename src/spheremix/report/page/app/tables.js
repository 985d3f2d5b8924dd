// The tables that can be saved: what is shown, at the step it is shown at.

import { contributionsOf } from "../documents/reader.js";
import { certaintyText } from "../groups/certainty.js";
import { NOWHERE, placeOf } from "../groups/grouping.js";
import { characteristicWords, onlyHereWords, rankedWords, sharedWords } from "../words/words.js";

/** @import { App, Cell, Documents, Rows, Table } from "../types.d.ts" */

/** @param {App} app @returns {Table} */
export function groupTable({ content, state, stepOf, edits }) {
  const step = stepOf(state.now.step);
  const listed = (/** @type {number[]} */ words) => words.map((j) => content.words[j]).join(" ");
  return {
    columns: [
      "group",
      "name",
      "size",
      "weight",
      "kappa",
      "words",
      "only_here_words",
      "shared_words",
      "n_words",
      "n_only_here_words",
    ],
    rows: step.groups.map((k) => [
      k,
      edits.nameInTables(k),
      step.entry.sizes[k],
      step.entry.weights[k],
      step.entry.kappas[k],
      listed(characteristicWords(content, step, k, 20)),
      listed(onlyHereWords(content, step, k, 20)),
      listed(sharedWords(content, step, k, 20)),
      step.entry.n_words[k],
      step.entry.n_only_here_words[k],
    ]),
  };
}

/** @param {App} app @returns {Table} */
export function wordTable({ content, state, stepOf }) {
  const step = stepOf(state.now.step);
  /** @type {Cell[][]} */
  const rows = [];
  for (const k of step.groups) {
    const scores = step.scores(k);
    rankedWords(content, step, k, () => true).forEach((j, i) => {
      const exit = content.exit_betas ? rounded(content.exit_betas[k * step.W + j]) : null;
      const score = rounded(scores[j]);
      const weight = rounded(step.weight(k, j));
      rows.push([k, i + 1, content.words[j], score, weight, exit, step.counts[j]]);
    });
  }
  const columns = ["group", "rank", "word", "score", "weight", "exit_beta", "n_groups"];
  return { columns, rows };
}

// Return the documents of the list, in its order; with the shown groups, where the slider has
// moved.
/** @param {App} app @param {Documents} documents @param {number[]} listed @returns {Table} */
export function documentTable({ content, state, stepOf, edits, groups }, documents, listed) {
  const step = stepOf(state.now.step);
  const { exact, labels, byId } = groups();
  const columns = documents.label_columns ?? [];
  const ours = [
    "id",
    "title",
    "group",
    "name",
    "certainty",
    "group_at_chosen_beta",
    "second_group",
    "posterior",
    "margin",
    "log_odds",
    "cosine",
    "date",
    ...(exact ? [] : ["shown_group"]),
  ];
  return {
    columns: [
      ...ours,
      ...columns.map(({ name }) => (ours.includes(name) ? `${name}_input` : name)),
    ],
    rows: listed.map((i) => [
      documents.id[i],
      documents.title ? documents.title[i] : null,
      step.labels[i] === step.K ? -1 : step.labels[i], // -1: belongs nowhere
      step.labels[i] === step.K ? NOWHERE : edits.nameInTables(step.labels[i]),
      certaintyText(content, documents, i),
      documents.group[i] === step.K ? -1 : documents.group[i],
      documents.second_group ? documents.second_group[i] : null,
      rounded(documents.posterior[i]),
      rounded(documents.margin[i]),
      rounded(documents.log_odds[i]),
      rounded(documents.cosine[i]),
      documents.date ? documents.date[i] : null,
      ...(exact ? [] : [byId.get(labels[i])?.name() ?? NOWHERE]),
      ...columns.map(({ start, stop }) =>
        (documents.labels?.[i] ?? [])
          .filter((label) => label >= start && label < stop)
          .map((label) => documents.label_names?.[label])
          .join("; "),
      ),
    ]),
  };
}

/** @param {Pick<App, "content">} app @returns {Table} */
export function pathTable({ content }) {
  const names = Object.keys(content.steps[0].criteria);
  return {
    columns: ["step", "beta", "sparsity", "n_nonzero", "log_likelihood", ...names, "chosen_by"],
    rows: content.steps.map((one) => [
      one.step,
      one.beta,
      one.sparsity,
      one.n_nonzero,
      one.log_likelihood,
      ...names.map((name) => one.criteria[name]),
      one.chosen_by.join(" "),
    ]),
  };
}

/** @param {Pick<App, "content">} app @returns {Table} */
export function candidateTable({ content }) {
  const names = Object.keys(content.candidates[0].criteria);
  return {
    columns: [
      "n_groups",
      "chosen",
      "n_converged",
      "n_starts",
      "agreement",
      "log_likelihood",
      "n_nonzero",
      ...names,
    ],
    rows: content.candidates.map((one) => [
      one.n_groups,
      one.chosen ? 1 : 0,
      one.n_converged,
      one.n_starts,
      one.agreement,
      one.log_likelihood,
      one.n_nonzero,
      ...names.map((name) => one.criteria[name]),
    ]),
  };
}

/** @param {App} app @param {Documents} documents @param {Rows} rows @returns {Table} */
export function contributionsTable({ content, state, stepOf }, documents, rows) {
  const step = stepOf(state.now.step);
  const i = state.now.document;
  const { k, rival } = placeOf(documents, step, i);
  return {
    columns: ["word", "value", "term", "rival_term", "difference"],
    rows: contributionsOf(rows, step, i, k, rival).map(({ j, x, own, other, difference }) => [
      content.words[j],
      ...[x, own, other, difference].map(rounded),
    ]),
  };
}

/** @param {number} value */
function rounded(value) {
  return Number.isFinite(value) ? Number(value.toPrecision(7)) : value;
}
