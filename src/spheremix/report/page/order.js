// One step of the path, read: which cluster has which word, and the paper's order of words.

/** @import { Block, Content, Levels, Step, StepOf } from "./types.d.ts" */

const BITS = 44; // of a pattern in one number, with room above them for the number of clusters

/** @param {Content} content @returns {StepOf} */
export function createSteps(content) {
  /** @type {Map<number, Step>} */
  const known = new Map();
  return (index) => {
    const step = known.get(index) ?? readStep(content, index);
    known.set(index, step);
    return step;
  };
}

/** @param {Content} content @param {number} index @returns {Step} */
function readStep(content, index) {
  const K = content.model.n_clusters;
  const W = content.words.length;
  const entry = content.steps[index];
  const levels = content.values.subarray(index * K * W, (index + 1) * K * W);
  const n = content.labels ? content.labels.length / content.steps.length : 0;
  const labels = content.labels?.subarray(index * n, (index + 1) * n) ?? new Uint8Array(0);
  const exact = index === content.chosen;
  const weight = (/** @type {number} */ k, /** @type {number} */ j) => {
    if (exact) return content.prototypes[k * W + j];
    const q = levels[k * W + j];
    return Math.sign(q) * entry.scale * (q / 127) ** 2;
  };
  const score = scorer(entry.masses, weight, W);
  const clusters = orderClusters(entry.weights);
  const read = patterns(levels, clusters, W, K, exact ? content.prototypes : null);
  const { counts, shownCounts, keys, intensities } = read;
  const order = orderWords(keys, intensities);
  const places = new Uint32Array(W);
  order.forEach((j, place) => (places[j] = place));
  const blocks = findBlocks(order, keys, counts, levels, clusters, W);
  const active = W - counts.reduce((zeros, count) => zeros + Number(count === 0), 0);
  return {
    index,
    exact,
    entry,
    K,
    W,
    levels,
    labels,
    weight,
    score,
    clusters,
    counts,
    shownCounts,
    order,
    places,
    blocks,
    active,
  };
}

// How characteristic a word is of a cluster: its squared weight, times the share of the word that
// the model expects there. As characteristic_scores of the library.
/**
 * @param {number[]} masses @param {(k: number, j: number) => number} weight
 * @param {number} W
 */
function scorer(masses, weight, W) {
  /** @type {Float64Array | null} */
  let totals = null;
  return (/** @type {number} */ k, /** @type {number} */ j) => {
    totals ??= Float64Array.from({ length: W }, (_, i) =>
      masses.reduce((sum, mass, l) => sum + mass * Math.abs(weight(l, i)), 0),
    );
    const size = Math.abs(weight(k, j));
    return totals[j] > 0 ? (size ** 3 * masses[k]) / totals[j] : 0;
  };
}

// By decreasing weight; of equals, the first one first.
/** @param {number[]} weights */
function orderClusters(weights) {
  return weights.map((_, k) => k).sort((a, b) => weights[b] - weights[a] || a - b);
}

/**
 * @param {Levels} levels @param {number[]} clusters @param {number} W @param {number} K
 * @param {Float32Array | null} prototypes
 */
function patterns(levels, clusters, W, K, prototypes) {
  const counts = new Uint16Array(W);
  /** @type {number[]} */
  const shownCounts = new Array(K).fill(0);
  const intensities = new Float64Array(W);
  const keys = Array.from({ length: Math.ceil(K / BITS) }, () => new Float64Array(W));
  clusters.forEach((k, row) => {
    const key = keys[Math.floor(row / BITS)];
    const bit = 2 ** (BITS - 1 - (row % BITS));
    for (let j = 0, at = k * W; j < W; j++, at++) {
      const q = levels[at];
      if (q === 0) continue;
      counts[j]++;
      shownCounts[k]++;
      key[j] += bit;
      intensities[j] += prototypes ? Math.abs(prototypes[at]) : q * q;
    }
  });
  // The number of clusters decides before the pattern does.
  for (let j = 0; j < W; j++) keys[0][j] += counts[j] * 2 ** BITS;
  return { counts, shownCounts, keys, intensities };
}

/** @param {Float64Array[]} keys @param {Float64Array} intensities */
function orderWords(keys, intensities) {
  const [first, ...others] = keys;
  return Uint32Array.from(first.keys()).sort((a, b) => {
    if (first[a] !== first[b]) return first[b] - first[a];
    for (const key of others) if (key[a] !== key[b]) return key[b] - key[a];
    return intensities[b] - intensities[a] || a - b;
  });
}

// Neighbouring words that are non-zero in exactly the same clusters.
/**
 * @param {Uint32Array} order @param {Float64Array[]} keys @param {Uint16Array} counts
 * @param {Levels} levels @param {number[]} clusters @param {number} W
 */
function findBlocks(order, keys, counts, levels, clusters, W) {
  /** @type {Block[]} */
  const blocks = [];
  for (let start = 0, place = 1; place <= order.length; place++) {
    const j = order[start];
    if (place < order.length && keys.every((key) => key[order[place]] === key[j])) continue;
    const members = clusters.filter((k) => levels[k * W + j] !== 0);
    blocks.push({ start, stop: place, count: counts[j], clusters: members });
    start = place;
  }
  return blocks;
}

// Columns of each number of sharing clusters: what is drawn in one hue.
/** @param {Step} step */
export function groupsOf(step) {
  /** @type {Omit<Block, "clusters">[]} */
  const groups = [];
  for (const { start, stop, count } of step.blocks) {
    const last = groups.at(-1);
    if (last && last.count === count) last.stop = stop;
    else groups.push({ start, stop, count });
  }
  return groups;
}
