// One step of the path, read: which group has which word, and the paper's order of words.

/** @import { Block, Content, Levels, Step, StepOf } from "../types.d.ts" */

const MOST = 127; // the highest level of a weight
const BITS = 44; // of a pattern in one number, with room above them for the number of groups

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
  const K = content.model.n_groups;
  const W = content.words.length;
  const entry = content.steps[index];
  const levels = content.values.subarray(index * K * W, (index + 1) * K * W);
  const n = content.labels ? content.labels.length / content.steps.length : 0;
  const labels = content.labels?.subarray(index * n, (index + 1) * n) ?? new Uint8Array(0);
  const exact = index === content.chosen;
  const known = weightsOfLevels(entry.scale);
  const weight = (/** @type {number} */ k, /** @type {number} */ j) =>
    exact ? content.prototypes[k * W + j] : known[levels[k * W + j] + MOST];
  const groups = orderGroups(entry.weights);
  const { counts, shownCounts } = countWords(levels, W, K);
  const columns = once(() =>
    orderColumns(levels, groups, counts, W, exact ? content.prototypes : null),
  );
  return {
    index,
    exact,
    entry,
    K,
    W,
    levels,
    labels,
    weight,
    scores: createScores(weight, entry.masses, W),
    groups,
    counts,
    shownCounts,
    active: W - counts.reduce((zeros, count) => zeros + Number(count === 0), 0),
    get order() {
      return columns().order;
    },
    get places() {
      return columns().places;
    },
    get blocks() {
      return columns().blocks;
    },
  };
}

/** @template T @param {() => T} action @returns {() => T} */
function once(action) {
  /** @type {T | undefined} */
  let known;
  return () => (known ??= action());
}

// Return what the levels of a step stand for, from -MOST on: they grow with the root of the weight.
/** @param {number} scale */
function weightsOfLevels(scale) {
  return Float64Array.from({ length: 2 * MOST + 1 }, (_, i) => {
    const level = i - MOST;
    return Math.sign(level) * scale * (level / MOST) ** 2;
  });
}

// Return how characteristic the words are of a group: their weight to the power 1.5, times the
// share of the word that the model expects there. As characteristic_scores of the library.
/** @param {Step["weight"]} weight @param {number[]} masses @param {number} W */
function createScores(weight, masses, W) {
  const totals = once(() => {
    const sums = new Float64Array(W);
    masses.forEach((mass, k) => {
      for (let j = 0; j < W; j++) sums[j] += mass * Math.abs(weight(k, j));
    });
    return sums;
  });
  let last = -1;
  let scores = new Float64Array(0);
  // Several lists of the same group are asked for after each other.
  return (/** @type {number} */ k) => {
    if (k === last) return scores;
    const sums = totals();
    last = k;
    scores = new Float64Array(W);
    for (let j = 0; j < W; j++) {
      const size = Math.abs(weight(k, j));
      if (size > 0 && sums[j] > 0) scores[j] = (size ** 2.5 * masses[k]) / sums[j];
    }
    return scores;
  };
}

/** Return groups by decreasing weight; of equals, the first one first. @param {number[]} weights */
function orderGroups(weights) {
  return weights.map((_, k) => k).sort((a, b) => weights[b] - weights[a] || a - b);
}

// Return how many groups have each word, and how many words each group has.
/** @param {Levels} levels @param {number} W @param {number} K */
function countWords(levels, W, K) {
  const counts = new Uint16Array(W);
  /** @type {number[]} */
  const shownCounts = new Array(K).fill(0);
  for (let k = 0; k < K; k++) {
    for (let j = 0, at = k * W; j < W; j++, at++) {
      if (levels[at] === 0) continue;
      counts[j]++;
      shownCounts[k]++;
    }
  }
  return { counts, shownCounts };
}

/**
 * Return the paper's order of words. Only the map of words asks for it, and sorting takes its time.
 * @param {Levels} levels @param {number[]} groups @param {Uint16Array} counts @param {number} W
 * @param {Float32Array | null} prototypes
 */
function orderColumns(levels, groups, counts, W, prototypes) {
  const intensities = new Float64Array(W);
  const keys = Array.from({ length: Math.ceil(groups.length / BITS) }, () => new Float64Array(W));
  groups.forEach((k, row) => {
    const key = keys[Math.floor(row / BITS)];
    const bit = 2 ** (BITS - 1 - (row % BITS));
    for (let j = 0, at = k * W; j < W; j++, at++) {
      const q = levels[at];
      if (q === 0) continue;
      key[j] += bit;
      intensities[j] += prototypes ? Math.abs(prototypes[at]) : q * q;
    }
  });
  // The number of groups decides before the pattern does.
  for (let j = 0; j < W; j++) keys[0][j] += counts[j] * 2 ** BITS;
  const order = orderWords(keys, intensities);
  const places = new Uint32Array(W);
  order.forEach((j, place) => (places[j] = place));
  return { order, places, blocks: findBlocks(order, keys, counts, levels, groups, W) };
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

/**
 * Return neighbouring words that are non-zero in exactly the same groups.
 * @param {Uint32Array} order @param {Float64Array[]} keys @param {Uint16Array} counts
 * @param {Levels} levels @param {number[]} groups @param {number} W
 */
function findBlocks(order, keys, counts, levels, groups, W) {
  /** @type {Block[]} */
  const blocks = [];
  for (let start = 0, place = 1; place <= order.length; place++) {
    const j = order[start];
    if (place < order.length && keys.every((key) => key[order[place]] === key[j])) continue;
    const members = groups.filter((k) => levels[k * W + j] !== 0);
    blocks.push({ start, stop: place, count: counts[j], groups: members });
    start = place;
  }
  return blocks;
}

// Return the columns of each number of sharing groups: what is drawn in one hue.
/** @param {Step} step */
export function groupsOf(step) {
  /** @type {Omit<Block, "groups">[]} */
  const groups = [];
  for (const { start, stop, count } of step.blocks) {
    const last = groups.at(-1);
    if (last && last.count === count) last.stop = stop;
    else groups.push({ start, stop, count });
  }
  return groups;
}
