// Whose words are whose at a step, the ones that survive longest first.

// The cluster that keeps each word longer than any other (without a path, in which it weighs most);
// -1 where there is a tie.
export function findLeaders(content) {
  const K = content.model.n_clusters;
  const W = content.words.length;
  const grip = content.exit_betas || content.prototypes.map(Math.abs);
  const leaders = new Int32Array(W).fill(-1);
  for (let j = 0; j < W; j++) {
    let best = 0;
    for (let k = 0; k < K; k++) {
      const exit = grip[k * W + j];
      if (exit > best) {
        best = exit;
        leaders[j] = k;
      } else if (exit === best) leaders[j] = -1;
    }
  }
  return leaders;
}

// Best first: the exit from the path, then the weight.
export function rankedWords(content, step, k, keep, limit = Infinity) {
  const { W, levels, counts } = step;
  const exits = content.exit_betas;
  const found = [];
  for (let j = 0, at = k * W; j < W; j++, at++) {
    if (levels[at] === 0 || !keep(j, counts[j])) continue;
    found.push(j);
  }
  const by = (a, b) =>
    (exits && compareExits(exits[k * W + b], exits[k * W + a])) ||
    Math.abs(step.weight(k, b)) - Math.abs(step.weight(k, a)) ||
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

export function sharedWords(content, step, k, limit) {
  return rankedWords(content, step, k, (_, count) => count > 1 && count < step.K, limit);
}

export function commonWords(content, step, k, limit) {
  return rankedWords(content, step, k, (_, count) => count === step.K, limit);
}

// What a cluster is told by: its own words, then those it keeps longer than the others do.
export function tellingWords(content, step, leaders, k, limit) {
  const words = ownWords(content, step, k, limit);
  if (words.length === limit) return words;
  const leads = (j, count) => count > 1 && leaders[j] === k;
  return [...words, ...rankedWords(content, step, k, leads, limit - words.length)];
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
