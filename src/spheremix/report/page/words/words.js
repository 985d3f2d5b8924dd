// Whose words are whose at a step, the most characteristic first.

import { counted, integer, isDense, nounOf } from "../lib/format.js";

/** @import { Content, Role, Step } from "../types.d.ts" */

/** @typedef {Pick<Content, "exit_betas">} Exits */
/** @typedef {Pick<Content, "exit_betas" | "only_here">} Listed */

// Return how many words a group has, and how many of them no other one has.
/** @param {Content} content @param {Step} step @param {number} k */
export function wordCountText(content, step, k) {
  const all = counted(step.entry.n_words[k], nounOf(content));
  const alone = integer(step.entry.n_only_here_words[k]);
  return hasGroups(content, step) ? `${all}, ${alone} only here` : all;
}

// Return whether words are told apart by who has them: not those of one group, nor dense
// coordinates.
/** @param {Content} content @param {Pick<Step, "K">} step */
export function hasGroups(content, step) {
  return step.K > 1 && !isDense(content);
}

/**
 * Return words, the most characteristic first; of equals, the heaviest, and those that leave the
 * path later.
 * @param {Pick<Content, "exit_betas">} content @param {Step} step @param {number} k
 * @param {(j: number, count: number) => boolean} keep
 */
export function rankedWords(content, step, k, keep, limit = Infinity) {
  const { W, levels, counts } = step;
  const exits = content.exit_betas;
  const found = [];
  for (let j = 0, at = k * W; j < W; j++, at++) {
    if (levels[at] === 0 || !keep(j, counts[j])) continue;
    found.push(j);
  }
  if (!found.length) return found;
  const scores = step.scores(k);
  const by = (/** @type {number} */ a, /** @type {number} */ b) =>
    scores[b] - scores[a] ||
    Math.abs(step.weight(k, b)) - Math.abs(step.weight(k, a)) ||
    (exits && compareExits(exits[k * W + b], exits[k * W + a])) ||
    a - b;
  return limit < found.length / 8 ? firstOf(found, by, limit) : found.sort(by).slice(0, limit);
}

/** @param {number} a @param {number} b */
function compareExits(a, b) {
  return a === b ? 0 : a - b; // the difference of two infinities is no number
}

/**
 * Return a few of many in one pass, without sorting the rest.
 * @param {number[]} items @param {(a: number, b: number) => number} by @param {number} limit
 */
function firstOf(items, by, limit) {
  /** @type {number[]} */
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

/** @param {Exits} content @param {Step} step @param {number} k @param {number} limit */
export function characteristicWords(content, step, k, limit) {
  return rankedWords(content, step, k, () => true, limit);
}

// Return words that no other group has; unless all are asked for, those of enough of its documents.
/** @param {Listed} content @param {Step} step @param {number} k @param {number} limit */
export function onlyHereWords(content, step, k, limit, all = false) {
  const enough = all ? null : content.only_here;
  const listed = (/** @type {number} */ j) => !enough || enough[step.index * step.W + j] === 1;
  return rankedWords(content, step, k, (j, count) => count === 1 && listed(j), limit);
}

// Return words shared with some others, not with all of them: those are common.
/** @param {Exits} content @param {Step} step @param {number} k @param {number} limit */
export function sharedWords(content, step, k, limit) {
  return rankedWords(content, step, k, (_, count) => count > 1 && count < step.K, limit);
}

/** @param {Exits} content @param {Step} step @param {number} k @param {number} limit */
export function commonWords(content, step, k, limit) {
  return rankedWords(content, step, k, (_, count) => count === step.K, limit);
}

/** @param {Step} step @param {number} j */
export function sharers(step, j) {
  return step.groups.filter((k) => step.levels[k * step.W + j] !== 0);
}

// Return what a word is to a group.
/** @param {Step} step @param {number} j @param {number} k @returns {Role} */
export function roleOf(step, j, k) {
  const count = step.counts[j];
  if (count === 0) return "none";
  if (step.levels[k * step.W + j] === 0) return "other";
  if (count === 1) return "own";
  return count === step.K ? "common" : "shared";
}
