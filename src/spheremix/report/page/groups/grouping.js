// The groups that are looked at: those of the model, or nodes of the tree when more or fewer are asked
// for. Lists, tabs and maps take them from here.

import { groupColour } from "../lib/colours.js";
import { characteristicWords, onlyHereWords } from "../words/words.js";

/** @import { App, Content, Documents, Group, Grouping, Now, State, Step, StepOf, Tree } from "../types.d.ts" */

const LISTED = 14; // words of a group
const ONLY = 6;

/**
 * @param {Content} content @param {StepOf} stepOf
 * @returns {(now: Pick<Now, "cut" | "step">) => Grouping}
 */
export function createGroupings(content, stepOf) {
  const cuts = content.tree ? readTree(content.tree) : null;
  /** @type {Map<string, Grouping>} */
  const known = new Map();
  return ({ cut, step }) => {
    const key = cut ? `cut ${cut}` : `step ${step}`;
    const found =
      known.get(key) ??
      (cut && content.tree && cuts
        ? nodeGroups(content, content.tree, cuts, cut)
        : modelGroups(content, stepOf(step), cuts));
    known.set(key, found);
    return found;
  };
}

/**
 * @param {Content} content @param {Step} step @param {ReturnType<typeof readTree> | null} cuts
 * @returns {Grouping}
 */
function modelGroups(content, step, cuts) {
  const order = content.tree && cuts ? groupOrder(content.tree, cuts.order, step.K) : step.groups;
  const groups = order.map((k) => {
    /** @type {Group} */
    const group = {
      id: k,
      name: () => content.names[k],
      size: step.entry.sizes[k],
      ...listedWords(content, step, k),
      only: onlyWords(content, step, k),
      stability: step.exact ? (content.stability?.groups[k] ?? null) : null,
      colour: groupColour(...colourPlace(content, k)),
    };
    return group;
  });
  return grouping(true, groups, step.labels, nowhereGroup(content, step.K, step.labels));
}

// Return the number of a group in the palette, and its shade: that of the run before, where this run brings one
// up to date, or that of its weight at the chosen step. It is the same at every step.
/** @param {Content} content @param {number} k @returns {[number, number]} */
function colourPlace({ edits, steps, chosen }, k) {
  const place = edits?.colours?.[k];
  if (place) return [place[0], place[1]];
  const { weights } = steps[chosen];
  const before = weights.filter(
    (weight, i) => weight > weights[k] || (weight === weights[k] && i < k),
  );
  return [before.length, 0];
}

// Return the place of a node of the tree: of some groups together that of the first among them, of a part of
// a group a shade of its colour; the first part keeps it.
/** @param {Content} content @param {Tree} tree @param {number[]} order of leaves @param {number[]} leaves */
function nodeColour(content, tree, order, leaves) {
  const parts = [...new Set(leaves.map((leaf) => tree.groups[leaf]))].filter((k) => k >= 0);
  const places = parts.map((k) => colourPlace(content, k)).sort((a, b) => a[0] - b[0]);
  const [number, shade] = places[0] ?? [0, 0];
  if (parts.length !== 1) return groupColour(number, shade);
  const all = order.filter((leaf) => tree.groups[leaf] === parts[0]);
  return groupColour(number, shade + all.indexOf(leaves[0]));
}

/**
 * @param {Content} content @param {Tree} tree @param {ReturnType<typeof readTree>} cuts
 * @param {number} m @returns {Grouping}
 */
function nodeGroups(content, tree, cuts, m) {
  const nodes = cuts.cut(m);
  const owner = new Uint16Array(tree.leaves + 1); // the last one: documents that belong nowhere
  owner[tree.leaves] = tree.parents.length;
  const groups = nodes.map((node) => {
    const leaves = cuts.leavesOf(node);
    for (const leaf of leaves) owner[leaf] = node;
    /** @type {Group} */
    const group = {
      id: node,
      name: () => (tree.is_chosen[node] ? content.names[tree.groups[node]] : tree.names[node]),
      size: tree.sizes[node],
      words: tree.words[node],
      own: tree.words[node].map((word) => tree.only[node].includes(word)),
      only: tree.only[node],
      stability: tree.is_chosen[node]
        ? (content.stability?.groups[tree.groups[node]] ?? null)
        : null,
      colour: nodeColour(content, tree, cuts.order, leaves),
    };
    return group;
  });
  const leafOf = content.documents?.leaf ?? new Uint16Array(0);
  const labels = Uint16Array.from(leafOf, (leaf) => owner[leaf]);
  return grouping(false, groups, labels, nowhereGroup(content, tree.parents.length, labels));
}

/**
 * @param {boolean} exact @param {Group[]} groups @param {Grouping["labels"]} labels
 * @param {Group | null} nowhere
 */
function grouping(exact, groups, labels, nowhere) {
  const listed = nowhere ? [...groups, nowhere] : groups;
  const byId = new Map(listed.map((group) => [group.id, group]));
  return { exact, groups, labels, byId, nowhere, listed };
}

// Return the words of a group; for coordinates, those that set its texts apart.
/** @param {Content} content @param {Step} step @param {number} k */
function listedWords(content, step, k) {
  if (content.kind === "coordinates") {
    const words = content.contrast ? content.contrast[k].map(([word]) => word) : [];
    return { words, own: words.map(() => false) };
  }
  const found = characteristicWords(content, step, k, LISTED);
  return {
    words: found.map((j) => content.words[j]),
    own: found.map((j) => step.K > 1 && step.counts[j] === 1),
  };
}

/** @param {Content} content @param {Step} step @param {number} k */
function onlyWords(content, step, k) {
  if (content.kind === "coordinates" || step.K < 2) return [];
  return onlyHereWords(content, step, k, ONLY).map((j) => content.words[j]);
}

// Return what is chosen: a group of the model, or a node of the tree.
/** @param {Pick<Now, "cut" | "group" | "node">} now */
export function chosenId({ cut, group, node }) {
  return cut ? node : group;
}

/**
 * Choose a group, whose documents are listed then. The open document is closed where it is not one
 * of them.
 * @param {State} state @param {Grouping} groups @param {number} id
 * @param {Partial<Now>} more
 */
export function chooseGroup(state, groups, id, more = {}) {
  const open = state.now.document;
  const stays = open >= 0 && groups.labels[open] === id;
  state.set({
    [state.now.cut ? "node" : "group"]: id,
    ...(!stays && { document: -1 }),
    rival: -1,
    scope: "group",
    ...more,
  });
}

// Choose a group of the model, also where other groups or other words are shown.
/** @param {Pick<App, "content" | "state" | "groupsAt">} app @param {number} k */
export function chooseModelGroup({ content, state, groupsAt }, k) {
  state.set({ cut: 0, step: content.chosen });
  chooseGroup(state, groupsAt(state.now), k);
}

// Return the group of another number of groups that has most of the documents of this one.
/** @param {Grouping} from @param {number} id @param {Grouping} to */
export function nearestGroup(from, id, to) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (let i = 0; i < from.labels.length; i++) {
    if (from.labels[i] !== id) continue;
    counts.set(to.labels[i], (counts.get(to.labels[i]) ?? 0) + 1);
  }
  const best = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0];
  return best ? best[0] : to.groups[0].id;
}

// The tree of groups: which nodes are the groups when there are so many, and their order.

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
  return { order, cut, leavesOf };
}

// Return the groups of the model in the order of the tree's leaves.
/** @param {Tree} tree @param {number[]} order @param {number} K */
export function groupOrder({ groups }, order, K) {
  const found = [...new Set(order.map((leaf) => groups[leaf]))].filter((k) => k >= 0);
  const missing = Array.from({ length: K }, (_, k) => k).filter((k) => !found.includes(k));
  return [...found, ...missing];
}

// Documents that fit no group. They have the number after the last one, and stand apart: no share
// of a group counts them, and nothing can be merged with them or split off.

export const NOWHERE = "belongs nowhere";
const GREY = { light: "#8a8a8a", dark: "#8f8f8f" };

// Return an entry beside the groups; null where the model has a group for every document.
/** @param {Pick<Content, "model">} content @param {number} id @param {Grouping["labels"]} labels */
export function nowhereGroup({ model }, id, labels) {
  if (!model.has_nowhere || !labels.length) return null;
  let size = 0;
  for (const one of labels) if (one === id) size++;
  /** @type {Group} */
  const group = {
    id,
    name: () => NOWHERE,
    size,
    words: [],
    own: [],
    only: [],
    stability: null,
    colour: GREY,
  };
  return group;
}

// Return whether a document belongs nowhere in the chosen mixture.
/** @param {Pick<Content, "model">} content @param {Pick<Documents, "group">} documents @param {number} i */
export function isNowhere({ model }, { group }, i) {
  return group[i] === model.n_groups;
}

/**
 * Return the group whose words explain a document, and the one it is compared with; -1: none.
 * That is its own and the second group, or the one it has left at this step. Of a document that
 * belongs nowhere it is the nearest one.
 * @param {Pick<Documents, "group" | "second_group">} documents
 * @param {Pick<Step, "labels" | "K">} step @param {number} i
 */
export function placeOf({ group, second_group: next }, { labels, K }, i) {
  const nearest = next ? next[i] : 0;
  const chosen = group[i] === K ? nearest : group[i];
  if (labels[i] === K) return { k: chosen, rival: -1 };
  const k = labels[i];
  if (chosen !== k) return { k, rival: chosen };
  return { k, rival: next && group[i] !== K ? next[i] : -1 };
}
