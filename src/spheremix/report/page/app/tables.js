// The tables that can be saved: what is shown, at the step it is shown at.

import { contributionsOf } from "../documents/reader.js";
import { certaintyText } from "../groups/certainty.js";
import { NOWHERE, placeOf } from "../groups/grouping.js";
import { characteristicWords, onlyHereWords, rankedWords, sharedWords } from "../words/words.js";

/** @import { App, Cell, Criteria, Documents, Group, Rows, Table } from "../types.d.ts" */

/**
 * Return a table with a row for each item; columns are names with their values.
 * @template T
 * @param {T[]} items @param {[name: string, value: (item: T) => Cell][]} columns @returns {Table}
 */
function tabulate(items, columns) {
  return {
    columns: columns.map(([name]) => name),
    rows: items.map((item) => columns.map(([, value]) => value(item) ?? null)),
  };
}

/**
 * Return the groups that are shown, largest first. Those that were made by edits or by the slider of groups have
 * no number, and nothing that only a fit knows.
 * @param {App} app @returns {Table}
 */
export function groupTable({ content, state, stepOf, groups }) {
  const step = stepOf(state.now.step);
  const { entry } = step;
  const listed = (/** @type {number[]} */ words) => words.map((j) => content.words[j]).join(" ");
  /** @type {(value: (k: number) => Cell, otherwise?: (one: Group) => Cell) => (one: Group) => Cell} */
  const fitted = (value, otherwise) => (one) =>
    one.whole >= 0 ? value(one.whole) : otherwise?.(one);
  return tabulate(
    groups().groups.toSorted((a, b) => b.size - a.size || a.id - b.id),
    [
      ["group", fitted((k) => k)],
      ["name", (one) => one.name()],
      ["size", (one) => one.size],
      ["weight", fitted((k) => entry.weights[k])],
      ["kappa", fitted((k) => entry.kappas[k])],
      [
        "words",
        fitted(
          (k) => listed(characteristicWords(content, step, k, 20)),
          (one) => one.words.join(" "),
        ),
      ],
      [
        "only_here_words",
        fitted(
          (k) => listed(onlyHereWords(content, step, k, 20)),
          (one) => one.only.join(" "),
        ),
      ],
      ["shared_words", fitted((k) => listed(sharedWords(content, step, k, 20)))],
      ["n_words", fitted((k) => entry.n_words[k])],
      ["n_only_here_words", fitted((k) => entry.n_only_here_words[k])],
    ],
  );
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
export function documentTable({ content, state, stepOf, groups }, documents, listed) {
  const step = stepOf(state.now.step);
  const { exact, labels, byId } = groups();
  /** @type {[string, (i: number) => Cell][]} */
  const ours = [
    ["id", (i) => documents.id[i]],
    ["title", (i) => documents.title?.[i]],
    ["group", (i) => (step.labels[i] === step.K ? -1 : step.labels[i])], // -1: belongs nowhere
    ["name", (i) => (step.labels[i] === step.K ? NOWHERE : content.names[step.labels[i]])],
    ["certainty", (i) => certaintyText(content, documents, i)],
    ["group_at_chosen_beta", (i) => (documents.group[i] === step.K ? -1 : documents.group[i])],
    ["second_group", (i) => documents.second_group?.[i]],
    ["posterior", (i) => rounded(documents.posterior[i])],
    ["margin", (i) => rounded(documents.margin[i])],
    ["log_odds", (i) => rounded(documents.log_odds[i])],
    ["cosine", (i) => rounded(documents.cosine[i])],
    ["date", (i) => documents.date?.[i]],
  ];
  if (!exact) ours.push(["shown_group", (i) => byId.get(labels[i])?.name() ?? NOWHERE]);
  const taken = new Set(ours.map(([name]) => name));
  for (const { name, start, stop } of documents.label_columns ?? [])
    ours.push([
      taken.has(name) ? `${name}_input` : name,
      (i) =>
        (documents.labels?.[i] ?? [])
          .filter((label) => label >= start && label < stop)
          .map((label) => documents.label_names?.[label])
          .join("; "),
    ]);
  return tabulate(listed, ours);
}

/** @param {Pick<App, "content">} app @returns {Table} */
export function pathTable({ content: { steps } }) {
  return tabulate(steps, [
    ["step", (one) => one.step],
    ["beta", (one) => one.beta],
    ["sparsity", (one) => one.sparsity],
    ["n_nonzero", (one) => one.n_nonzero],
    ["log_likelihood", (one) => one.log_likelihood],
    ...criteriaOf(steps),
    ["chosen_by", (one) => one.chosen_by.join(" ")],
  ]);
}

/** @param {Pick<App, "content">} app @returns {Table} */
export function candidateTable({ content: { candidates } }) {
  return tabulate(candidates, [
    ["n_groups", (one) => one.n_groups],
    ["chosen", (one) => (one.chosen ? 1 : 0)],
    ["n_converged", (one) => one.n_converged],
    ["n_starts", (one) => one.n_starts],
    ["agreement", (one) => one.agreement],
    ["log_likelihood", (one) => one.log_likelihood],
    ["n_nonzero", (one) => one.n_nonzero],
    ...criteriaOf(candidates),
  ]);
}

/** @param {{ criteria: Criteria }[]} items @returns {[string, (one: { criteria: Criteria }) => Cell][]} */
function criteriaOf([first]) {
  return Object.keys(first.criteria).map((name) => [name, (one) => one.criteria[name]]);
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
