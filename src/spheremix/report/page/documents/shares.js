// The shares of groups in documents: those of the tables, also of groups that are put together or divided.

/** @import { Documents, Labels } from "../types.d.ts" */

/** @typedef {Pick<Documents, "group" | "passages">} Split */
/** @typedef {{ ids: number[], values: Float64Array }} Shares a row of `values` is a document, a column one of `ids` */

// They are asked for by every list, and are always the same for the same groups.
/** @type {WeakMap<Labels, Shares>} */
const known = new WeakMap();

/**
 * Return the shares of the groups that passages are labelled with, in each document. Those of the model are
 * known, and groups of several of them have their sums. Where a group of the model is divided, so is its
 * share: as its passages in the document are, or all its passages where there are none.
 * @param {Split} documents @param {Labels} labels
 */
export function sharesIn(documents, labels) {
  const found = known.get(labels) ?? dividedShares(documents, labels);
  known.set(labels, found);
  return found;
}

/** @param {Split} documents @param {Labels} labels @returns {Shares} */
function dividedShares({ group, passages }, labels) {
  const ids = [...new Set(labels)].sort((a, b) => a - b);
  if (!passages) return { ids, values: new Float64Array(0) };
  const { document, weight, shares, n_grouped: m } = passages;
  const [K, G] = [shares.length / m, ids.length];
  const places = new Map(ids.map((id, at) => [id, at]));
  const values = new Float64Array(m * G);
  const all = new Float64Array(K * G);
  const own = new Float64Array(K * G);
  const add = (/** @type {Float64Array} */ parts, /** @type {number} */ j) => {
    if (group[j] < K) parts[group[j] * G + (places.get(labels[j]) ?? 0)] += weight[j];
  };
  for (let j = 0; j < document.length; j++) add(all, j);
  const sumOf = (
    /** @type {ArrayLike<number>} */ parts,
    /** @type {number} */ from,
    /** @type {number} */ n,
  ) => {
    let sum = 0;
    for (let at = from; at < from + n; at++) sum += parts[at];
    return sum;
  };
  for (let d = 0, j = 0; d < m; d++) {
    own.fill(0);
    for (; document[j] === d; j++) add(own, j);
    const whole = sumOf(shares, d * K, K);
    for (let k = 0; k < K; k++) {
      if (!shares[d * K + k]) continue;
      const here = sumOf(own, k * G, G);
      const parts = here ? own : all;
      const share = shares[d * K + k] / whole / (here || sumOf(all, k * G, G) || 1);
      for (let g = 0; g < G; g++) values[d * G + g] += share * parts[k * G + g];
    }
  }
  return { ids, values };
}

/**
 * Visit the groups of each document, with their shares of it: 1 of its own where documents are whole.
 * @param {Partial<Split>} documents @param {Labels} labels
 * @param {(i: number, id: number, share: number) => void} visit
 */
export function eachShare({ group, passages }, labels, visit) {
  if (!group || !passages) {
    for (let i = 0; i < labels.length; i++) visit(i, labels[i], 1);
    return;
  }
  const { ids, values } = sharesIn({ group, passages }, labels);
  values.forEach((share, at) => {
    if (share) visit(Math.floor(at / ids.length), ids[at % ids.length], share);
  });
}
