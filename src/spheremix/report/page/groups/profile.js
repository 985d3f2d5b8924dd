// The weights of words in groups that were not fitted: those of the tree, and those of the reader's edits. Sums
// of the groups inside, and of the documents of a part, within the words of its group.

import { createSteps } from "../words/steps.js";

/** @import { Content, Group, Grouping, Rows, Step } from "../types.d.ts" */

const LEVELS = 127;

/**
 * Return the groups as a step of the path, a row for each in their order; null where nothing is known of words.
 * @param {Content} content @param {Step} fitted the groups of the model
 * @param {Pick<Grouping, "groups" | "labels">} grouping
 * @returns {{ step: Step, content: Content } | null}
 */
export function profileOf(content, fitted, { groups, labels }) {
  const made = groups.some((group) => group.within);
  if (content.kind === "coordinates" || (made && !content.rows)) return null;
  const K = groups.length;
  const W = content.words.length;
  const prototypes = new Float32Array(K * W);
  groups.forEach((group, row) =>
    addGroups(fitted, group, prototypes.subarray(row * W, (row + 1) * W)),
  );
  const rows = new Map(groups.map(({ id }, row) => [id, row]));
  const ofRows = Uint16Array.from(labels, (id) => rows.get(id) ?? K);
  if (made && content.rows) addDocuments(fitted, content.rows, groups, ofRows, prototypes);
  const masses = groups.map((_, row) => scaled(prototypes.subarray(row * W, (row + 1) * W)));
  const scale = prototypes.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  const values = Int8Array.from(
    prototypes,
    (value) => Math.sign(value) * Math.ceil(LEVELS * Math.sqrt(Math.abs(value) / scale)),
  );
  const having = new Uint16Array(W);
  values.forEach((value, at) => (having[at % W] += Number(value !== 0)));
  const counts = (/** @type {(j: number) => boolean} */ counted) =>
    groups.map((_, row) => {
      const own = values.subarray(row * W, (row + 1) * W);
      return own.reduce((sum, value, j) => sum + Number(value !== 0 && counted(j)), 0);
    });
  const all = groups.reduce((sum, { size }) => sum + size, 0) || 1;
  const entry = {
    ...fitted.entry,
    scale,
    masses,
    weights: groups.map(({ size }) => size / all),
    sizes: groups.map(({ size }) => size),
    n_words: counts(() => true),
    n_only_here_words: counts((j) => having[j] === 1),
    n_words_by_groups: Array.from(
      { length: K + 1 },
      (_, m) => having.filter((count) => count === m).length,
    ),
  };
  /** @type {Content} */
  const own = {
    ...content,
    model: { ...content.model, n_groups: K, n_words: W },
    names: groups.map((group) => group.name()),
    steps: [entry],
    chosen: -1,
    values,
    labels: ofRows,
    prototypes,
    only_here: null,
    exit_betas: null,
    stability: null,
  };
  return { step: createSteps(own)(0), content: own };
}

// Add the expected sums of the rows of the groups inside.
/** @param {Step} fitted @param {Group} group @param {Float32Array} sums */
function addGroups({ weight, entry, W }, { holds }, sums) {
  for (const k of holds) for (let j = 0; j < W; j++) sums[j] += entry.masses[k] * weight(k, j);
}

// Add the rows of documents of groups that are divided, in the words that these groups have.
/**
 * @param {Step} fitted @param {Rows} rows @param {Group[]} groups
 * @param {Uint16Array} ofRows the row of each document @param {Float32Array} sums
 */
function addDocuments({ W, K, labels, levels }, rows, groups, ofRows, sums) {
  const n = labels.length;
  const whole = new Set(groups.flatMap(({ holds }) => holds));
  for (let i = 0; i < n; i++) {
    const row = ofRows[i];
    const k = labels[i];
    if (!groups[row]?.within || whole.has(k) || k === K) continue;
    const unit = rows.scale ? rows.scale[i] / 65535 : 1;
    for (let at = rows.indptr[i]; at < rows.indptr[i + 1]; at++) {
      const j = rows.words[at];
      if (levels[k * W + j]) sums[row * W + j] += (unit * rows.values[at]) / n;
    }
  }
}

/** Bring a vector to length one; return the length that it had. @param {Float32Array} vector */
function scaled(vector) {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  if (length > 0) vector.forEach((value, j) => (vector[j] = value / length));
  return length;
}
