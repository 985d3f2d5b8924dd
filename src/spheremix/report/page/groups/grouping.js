// The groups that are looked at: those of the model, or nodes of the tree when more or fewer are asked
// for. Lists, tabs and maps take them from here.

import { labelsAfter } from "../edits/plan.js";
import { groupColour } from "../lib/colours.js";
import { sizesOf } from "../tabs/counts.js";
import { onlyHereWords, rankedWords } from "../words/words.js";
import { profileOf } from "./profile.js";
import { groupOrder, readTree } from "./tree.js";

/** @import { App, Content, Documents, Group, Grouping, Labels, Now, Plan, PlannedGroup, State, Step, StepOf, Tree } from "../types.d.ts" */

/** @typedef {ReturnType<typeof readTree>} Cuts */

const LISTED = 14; // words of a group
const ONLY = 6;

/**
 * @param {Content} content @param {StepOf} stepOf @param {() => Plan | null} planOf the edits of the reader
 * @returns {(now: Pick<Now, "cut" | "step">) => Grouping}
 */
export function createGroupings(content, stepOf, planOf = () => null) {
  const cuts = content.tree ? readTree(content.tree) : null;
  /** @type {Map<string, Grouping>} */
  let known = new Map();
  /** @type {Plan | null} */
  let plan = null;
  return ({ cut, step }) => {
    if (plan !== planOf()) known = new Map();
    plan = planOf();
    const key = cut ? `cut ${cut}` : `step ${step}`;
    const found =
      known.get(key) ??
      (cut && content.tree && cuts
        ? nodeGroups(content, stepOf(content.chosen), content.tree, cuts, cut, plan)
        : plan?.changed
          ? editedGroups(content, stepOf(step), cuts, plan)
          : modelGroups(content, stepOf(step), cuts, plan));
    known.set(key, found);
    return found;
  };
}

/**
 * @param {Content} content @param {Step} step @param {Cuts | null} cuts @param {Plan | null} plan
 * @returns {Grouping}
 */
function modelGroups(content, step, cuts, plan) {
  const order = content.tree && cuts ? groupOrder(content.tree, cuts.order, step.K) : step.groups;
  const edits = new Map(plan?.groups.map((one) => [one.id, one.by]));
  const groups = order.map((k) => modelGroup(content, step, k, plan, edits.get(k)));
  const lost = nowhereGroup(content, step.K, step.labels);
  return grouping(content, step, { exact: true, groups, labels: step.labels, nowhere: lost });
}

/**
 * Return a group of the model.
 * @param {Content} content @param {Step} step @param {number} k @param {Plan | null} plan
 * @param {number[]} by edits @returns {Group}
 */
function modelGroup(content, step, k, plan, by = []) {
  return {
    id: k,
    whole: k,
    holds: [k],
    within: false,
    by,
    name: () => content.names[k],
    size: step.entry.sizes[k],
    ...listedWords(content, step, k, plan),
    only: onlyWords(content, step, k, plan),
    stability: step.exact ? (content.stability?.groups[k] ?? null) : null,
    colour: groupColour(...colourPlace(content, k)),
  };
}

/**
 * Return the groups after the edits of the reader, in the order of the tree.
 * @param {Content} content @param {Step} step @param {Cuts | null} cuts @param {Plan} plan
 * @returns {Grouping}
 */
function editedGroups(content, step, cuts, plan) {
  const labels = labelsAfter(content, plan, step.labels);
  const sizes = sizesOf(content.documents, labels);
  const { tree } = content;
  const rank = (/** @type {number} */ node) => cuts?.order.indexOf(cuts.leavesOf(node)[0]) ?? 0;
  const place = (/** @type {PlannedGroup} */ { nodes, id }) =>
    nodes.length ? Math.min(...nodes.map(rank)) : 1e6 + id;
  const sorted = [...plan.groups].sort((a, b) =>
    tree
      ? place(a) - place(b)
      : step.groups.indexOf(a.groups[0]) - step.groups.indexOf(b.groups[0]),
  );
  const groups = sorted.map((one) => {
    const [k] = one.groups;
    const size = labels.length
      ? (sizes.get(one.id) ?? 0)
      : one.groups.reduce((sum, own) => sum + step.entry.sizes[own], 0);
    if (one.groups.length === 1 && one.id === k)
      return { ...modelGroup(content, step, k, plan, one.by), size };
    return madeGroup(content, tree, cuts, one, size, plan);
  });
  const lost = nowhereGroup(content, step.K, labels);
  const found = { exact: false, groups, labels, nowhere: lost, holders: plan.holders };
  return withWords(grouping(content, step, found), plan, content.contrast);
}

/**
 * Return a group that was not fitted.
 * @param {Content} content @param {Tree | null} tree @param {Cuts | null} cuts
 * @param {PlannedGroup} planned @param {number} size @param {Plan} plan @returns {Group}
 */
function madeGroup(content, tree, cuts, { id, nodes, groups, name, by }, size, plan) {
  const node = tree && nodes.length === 1 ? nodes[0] : -1;
  const words = tree && node >= 0 ? kept(tree.words[node], plan) : [];
  const only = tree && node >= 0 ? kept(tree.only[node], plan) : [];
  const leaves = cuts ? nodes.flatMap((one) => cuts.leavesOf(one)) : [];
  const place = groups.map((k) => colourPlace(content, k)).sort((a, b) => a[0] - b[0])[0];
  return {
    id,
    whole: -1,
    holds: groups,
    within: !groups.length,
    by,
    name: () => name,
    size,
    words,
    own: words.map((word) => only.includes(word)),
    only,
    stability: null,
    colour: tree && cuts ? nodeColour(content, tree, cuts.order, leaves) : groupColour(...place),
  };
}

// Give groups that are several nodes together the words of all of them.
/** @param {Grouping} found @param {Plan} plan @param {Content["contrast"]} contrast */
function withWords(found, plan, contrast) {
  const bare = found.groups.filter(({ whole, words }) => whole < 0 && !words.length);
  if (contrast)
    for (const group of bare) {
      const words = group.holds.flatMap((k) => contrast[k]).sort((a, b) => b[1] - a[1]);
      group.words = [...new Set(words.map(([word]) => word))].slice(0, LISTED);
      group.own = group.words.map(() => false);
    }
  const profile = bare.length ? found.profile() : null;
  if (!profile) return found;
  const { step, content } = profile;
  for (const group of bare)
    Object.assign(group, listedWords(content, step, found.groups.indexOf(group), plan));
  return found;
}

/** @param {string[]} words @param {Plan | null} plan */
function kept(words, plan) {
  return plan?.dropped.size ? words.filter((word) => !plan.dropped.has(word)) : words;
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
 * @param {Content} content @param {Step} step @param {Tree} tree @param {Cuts} cuts @param {number} m
 * @param {Plan | null} plan @returns {Grouping}
 */
function nodeGroups(content, step, tree, cuts, m, plan) {
  const nodes = cuts.cut(m);
  const owner = new Uint16Array(tree.leaves + 1); // the last one: documents that belong nowhere
  owner[tree.leaves] = tree.parents.length;
  const holders = new Array(content.model.n_groups).fill(-1);
  const groups = nodes.map((node) => {
    const leaves = cuts.leavesOf(node);
    for (const leaf of leaves) owner[leaf] = node;
    const k = tree.is_chosen[node] ? tree.groups[node] : -1;
    const inside = [...new Set(leaves.map((leaf) => tree.groups[leaf]))];
    const holds = k >= 0 || tree.groups[node] < 0 ? inside : [];
    for (const one of inside) if (holders[one] < 0) holders[one] = node;
    const words = kept(tree.words[node], plan);
    const only = kept(tree.only[node], plan);
    /** @type {Group} */
    const group = {
      id: node,
      whole: k,
      holds,
      within: !holds.length,
      by: [],
      name: () => (k >= 0 ? content.names[k] : tree.names[node]),
      size: tree.sizes[node],
      words,
      own: words.map((word) => only.includes(word)),
      only,
      stability: k >= 0 ? (content.stability?.groups[k] ?? null) : null,
      colour: nodeColour(content, tree, cuts.order, leaves),
    };
    return group;
  });
  const leafOf = content.documents?.leaf ?? new Uint16Array(0);
  const labels = Uint16Array.from(leafOf, (leaf) => owner[leaf]);
  const lost = nowhereGroup(content, tree.parents.length, labels);
  return grouping(content, step, { exact: false, groups, labels, nowhere: lost, holders });
}

/**
 * @param {Content} content @param {Step} step
 * @param {{ exact: boolean, groups: Group[], labels: Labels, nowhere: Group | null, holders?: number[] }} parts
 * @returns {Grouping}
 */
function grouping(content, step, { exact, groups, labels, nowhere, holders }) {
  const listed = nowhere ? [...groups, nowhere] : groups;
  const byId = new Map(listed.map((group) => [group.id, group]));
  /** @type {ReturnType<Grouping["profile"]> | undefined} */
  let known;
  return {
    exact,
    groups,
    labels,
    byId,
    nowhere,
    listed,
    holderOf: (k) => (k === content.model.n_groups ? (nowhere?.id ?? -1) : (holders?.[k] ?? k)),
    profile: () =>
      known === undefined ? (known = profileOf(content, step, { groups, labels })) : known,
  };
}

// Return the words of a group; for coordinates, those that set its texts apart.
/** @param {Content} content @param {Step} step @param {number} k @param {Plan | null} plan */
function listedWords(content, step, k, plan) {
  if (content.kind === "coordinates") {
    const words = content.contrast ? content.contrast[k].map(([word]) => word) : [];
    return { words, own: words.map(() => false) };
  }
  const isKept = (/** @type {number} */ j) => !plan?.dropped.has(content.words[j]);
  const found = rankedWords(content, step, k, isKept, LISTED);
  return {
    words: found.map((j) => content.words[j]),
    own: found.map((j) => step.K > 1 && step.counts[j] === 1),
  };
}

/** @param {Content} content @param {Step} step @param {number} k @param {Plan | null} plan */
function onlyWords(content, step, k, plan) {
  if (content.kind === "coordinates" || step.K < 2) return [];
  const found = onlyHereWords(content, step, k, ONLY + (plan?.dropped.size ?? 0));
  return kept(
    found.map((j) => content.words[j]),
    plan,
  ).slice(0, ONLY);
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

// Choose a group of the model, also where other groups or other words are shown: after edits, the one that
// it is in.
/** @param {Pick<App, "content" | "state" | "groupsAt">} app @param {number} k */
export function chooseModelGroup({ content, state, groupsAt }, k) {
  state.set({ cut: 0, step: content.chosen });
  chooseGroup(state, groupsAt(state.now), groupsAt(state.now).holderOf(k));
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

// Documents that fit no group. They have the number after the last one, and stand apart: no share
// of a group counts them, and nothing can be merged with them or split off.

export const NOWHERE = "belongs nowhere";
const GREY = { light: "#8a8a8a", dark: "#8f8f8f" };

// Return an entry beside the groups; null where the model has a group for every document.
/** @param {Pick<Content, "model" | "documents">} content @param {number} id @param {Grouping["labels"]} labels */
export function nowhereGroup({ model, documents }, id, labels) {
  if (!model.has_nowhere || !labels.length) return null;
  const size = sizesOf(documents, labels).get(id) ?? 0;
  /** @type {Group} */
  const group = {
    id,
    whole: -1,
    holds: [],
    within: false,
    by: [],
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
