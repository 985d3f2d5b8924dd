// Whose words are whose at a step, the heaviest first.

import { counted, integer, isDense, nounOf } from "./format.js";

// How many words a cluster has, and how many of them no other one has.
export function wordCountText(content, step, k) {
  const all = counted(step.entry.n_words[k], nounOf(content));
  const own = integer(step.entry.n_own_words[k]);
  return hasGroups(content, step) ? `${all}, ${own} of its own` : all;
}

// Whether words are told apart by who has them: not those of one cluster, nor dense coordinates.
export function hasGroups(content, step) {
  return step.K > 1 && !isDense(content);
}

// The heaviest first; of equals, those that stay longer on the path.
export function rankedWords(content, step, k, keep, limit = Infinity) {
  const { W, levels, counts } = step;
  const exits = content.exit_betas;
  const found = [];
  for (let j = 0, at = k * W; j < W; j++, at++) {
    if (levels[at] === 0 || !keep(j, counts[j])) continue;
    found.push(j);
  }
  const by = (a, b) =>
    Math.abs(step.weight(k, b)) - Math.abs(step.weight(k, a)) ||
    (exits && compareExits(exits[k * W + b], exits[k * W + a])) ||
    a - b;
  return limit < found.length / 8 ? firstOf(found, by, limit) : found.sort(by).slice(0, limit);
}

function compareExits(a, b) {
  return a === b ? 0 : a - b; // the difference of two infinities is no number
}

// A few of many: one pass, without sorting the rest.
function firstOf(items, by, limit) {
  const best = [];
  for (const item of items) {
    if (best.length === limit && by(item, best[limit - 1]) >= 0) continue;
    let at = best.length;
    while (at > 0 && by(item, best[at - 1]) < 0) at--;
    best.splice(at, 0, item);
    if (best.length > limit) best.pop();
  }
  return best;
}

export function ownWords(content, step, k, limit) {
  return rankedWords(content, step, k, (_, count) => count === 1, limit);
}

// With some others, not with all of them: those are common.
export function sharedWords(content, step, k, limit) {
  return rankedWords(content, step, k, (_, count) => count > 1 && count < step.K, limit);
}

export function commonWords(content, step, k, limit) {
  return rankedWords(content, step, k, (_, count) => count === step.K, limit);
}

// What a cluster is told by: its own words, then those that weigh more in it than in the others.
export function tellingWords(content, step, k, limit) {
  const words = ownWords(content, step, k, limit);
  if (words.length === limit) return words;
  const led = (j, count) => count > 1 && leads(step, k, j);
  return [...words, ...rankedWords(content, step, k, led, limit - words.length)];
}

function leads({ K, W, levels }, k, j) {
  const mine = Math.abs(levels[k * W + j]);
  for (let other = 0; other < K; other++) {
    if (other !== k && Math.abs(levels[other * W + j]) >= mine) return false;
  }
  return true;
}

export function sharers(step, j) {
  return step.clusters.filter((k) => step.levels[k * step.W + j] !== 0);
}

// What a word is to a cluster.
export function roleOf(step, j, k) {
  const count = step.counts[j];
  if (count === 0) return "none";
  if (step.levels[k * step.W + j] === 0) return "other";
  if (count === 1) return "own";
  return count === step.K ? "common" : "shared";
}
