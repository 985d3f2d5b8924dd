// The tree of groups: which nodes are the groups when there are so many, and their order.

/** @import { Tree } from "../types.d.ts" */

/** @param {Tree} tree */
export function readTree(tree) {
  const { leaves, parents, sizes } = tree;
  /** @type {number[][]} */
  const children = parents.map(() => []);
  let root = -1;
  parents.forEach((parent, node) => {
    if (parent < 0) root = node;
    else children[parent].push(node);
  });
  // The branch with the largest group of the model first, so that the first group is the largest.
  /** @type {number[]} */
  const largest = [];
  children.forEach((pair, node) => {
    const whole = tree.is_chosen[node] || !pair.length;
    largest.push(whole ? sizes[node] : Math.max(...pair.map((one) => largest[one])));
  });
  for (const pair of children) pair.sort((a, b) => largest[b] - largest[a] || a - b);

  const leavesOf = (/** @type {number} */ node) => {
    /** @type {number[]} */
    const found = [];
    const stack = [node];
    for (let one = stack.pop(); one !== undefined; one = stack.pop()) {
      if (one < leaves) found.push(one);
      stack.push(...children[one].toReversed());
    }
    return found;
  };
  const order = leavesOf(root);
  const rank = (/** @type {number} */ node) => order.indexOf(leavesOf(node)[0]);
  // The last merges are undone, until there are m groups.
  const cut = (/** @type {number} */ m) => {
    const first = parents.length + 1 - m; // of the merges that are undone
    return parents
      .flatMap((parent, node) => (node < first && (parent < 0 || parent >= first) ? [node] : []))
      .sort((a, b) => rank(a) - rank(b));
  };
  return { order, cut, leavesOf, children };
}

// Return the groups of the model in the order of the tree's leaves.
/** @param {Tree} tree @param {number[]} order @param {number} K */
export function groupOrder({ groups }, order, K) {
  const found = [...new Set(order.map((leaf) => groups[leaf]))].filter((k) => k >= 0);
  const missing = Array.from({ length: K }, (_, k) => k).filter((k) => !found.includes(k));
  return [...found, ...missing];
}
