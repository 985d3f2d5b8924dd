// From the edits of a reader to the groups that are shown: the tree's nodes, put together and taken apart.

import { readTree } from "../groups/tree.js";

/** @import { Content, Edit, EditRecord, Plan, PlannedGroup } from "../types.d.ts" */

const FORMAT = "spheremix edits";
const VERSION = 1;
const JOINED = 3; // names of a merged group that has none of its own

/** @typedef {Pick<Content, "model" | "names" | "given_names" | "tree" | "documents">} Planned */

/** @param {string | null | undefined} run @returns {EditRecord} */
export function noEdits(run) {
  return {
    format: FORMAT,
    version: VERSION,
    run: run ?? null,
    names: {},
    merge: [],
    split: [],
    move: {},
    drop_words: [],
    notes: { groups: {}, documents: {} },
    misplaced: [],
  };
}

/**
 * Return the parts that groups are made of: the nodes of the tree, or the groups alone where the page has none.
 * @param {Planned} content
 */
function readParts({ model, tree, documents }) {
  const K = model.n_groups;
  if (!tree || !documents?.leaf) {
    const own = Array.from({ length: K }, (_, k) => k);
    return {
      nodes: own,
      groupsOf: (/** @type {number} */ k) => [k],
      within: (/** @type {number} */ k) => k,
      idOf: (/** @type {number} */ k) => k,
      children: () => /** @type {number[]} */ ([]),
      parent: () => -1,
      size: () => 0,
      isCover: () => false,
    };
  }
  const cuts = readTree(tree);
  const nodes = new Array(K).fill(-1); // of a group without documents
  tree.is_chosen.forEach((chosen, node) => {
    if (chosen) nodes[tree.groups[node]] = node;
  });
  /** @param {number} node @returns {number[]} */
  const groupsOf = (node) => {
    if (tree.is_chosen[node]) return [tree.groups[node]];
    return tree.groups[node] >= 0 ? [] : cuts.children[node].flatMap(groupsOf);
  };
  return {
    nodes,
    groupsOf: (/** @type {number} */ node) => groupsOf(node).sort((a, b) => a - b),
    within: (/** @type {number} */ node) => tree.groups[node],
    idOf: (/** @type {number} */ node) => K + 1 + node,
    children: (/** @type {number} */ node) => cuts.children[node],
    parent: (/** @type {number} */ node) => tree.parents[node],
    size: (/** @type {number} */ node) => tree.sizes[node],
    // Whether each fine group is in one of these nodes.
    isCover: (/** @type {number[]} */ some) => {
      if (some.some((node) => !cuts.children[node])) return false;
      const leaves = some.flatMap((node) => cuts.leavesOf(node));
      return leaves.length === tree.leaves && new Set(leaves).size === tree.leaves;
    },
  };
}

/**
 * Return the groups after edits, made one after the other; edits of groups that are not there are not used.
 * Groups that no edit touches keep their number, and a part of a group has that of the group where it is the
 * largest one, else a number after those of all groups.
 * @param {Planned} content @param {Edit[]} list @returns {Plan}
 */
export function applyEdits(content, list) {
  const K = content.model.n_groups;
  const parts = readParts(content);
  /** @type {Map<number, PlannedGroup>} */
  let groups = new Map();
  /** @type {Map<number, string>} */
  const names = new Map();
  /** @type {Plan} */
  const plan = {
    groups: [],
    changed: false,
    cut: 0,
    moved: new Map(),
    dropped: new Set(),
    notes: new Map(),
    documentNotes: new Map(),
    misplaced: new Set(),
    holders: [],
    used: [],
  };
  const known = new Map((content.documents?.id ?? []).map((id, i) => [id, i]));

  /** @param {number} id @param {number[]} nodes @param {number[]} whole @param {number[]} by edits */
  const put = (id, nodes, whole, by = []) =>
    groups.set(id, { id, nodes, groups: whole, name: "", given: false, divided: false, by });
  const begin = () => {
    groups = new Map();
    parts.nodes.forEach((node, k) => put(k, node < 0 ? [] : [node], [k]));
  };
  begin();

  // The number of a merged group is the smallest one; its name the first that was given.
  const merge = (/** @type {number[]} */ asked, /** @type {number} */ at) => {
    const ids = [...new Set(asked)].filter((id) => groups.has(id));
    if (ids.length < 2) return false;
    const id = Math.min(...ids);
    const several = ids.map((one) => /** @type {PlannedGroup} */ (groups.get(one)));
    const named = ids.find((one) => names.has(one));
    const name = named === undefined ? undefined : names.get(named);
    const notes = ids.flatMap((one) => plan.notes.get(one) ?? []);
    for (const one of ids) {
      groups.delete(one);
      names.delete(one);
      plan.notes.delete(one);
    }
    const nodes = joinedNodes(
      parts,
      several.flatMap((one) => one.nodes),
    );
    const whole = several.flatMap((one) => one.groups).sort((a, b) => a - b);
    const by = [...new Set(several.flatMap((one) => one.by)), at].sort((a, b) => a - b);
    put(id, nodes, [...new Set([...whole, ...nodes.flatMap(parts.groupsOf)])], by);
    if (name !== undefined) names.set(id, name);
    if (notes.length) plan.notes.set(id, notes.join("\n"));
    for (const [i, to] of plan.moved) if (ids.includes(to)) plan.moved.set(i, id);
    return true;
  };
  // The two parts of the tree; of a fine group they are only known when it is fitted.
  const split = (/** @type {number} */ id, /** @type {number} */ at) => {
    const group = groups.get(id);
    if (!group || group.nodes.length !== 1 || group.divided) return false;
    const children = [...parts.children(group.nodes[0])];
    const by = [...group.by, at];
    group.by = by;
    if (!children.length) {
      group.divided = true;
      return true;
    }
    children.sort((a, b) => parts.size(b) - parts.size(a) || a - b);
    children.forEach((node, i) => put(i ? parts.idOf(node) : id, [node], parts.groupsOf(node), by));
    return true;
  };
  const cut = (/** @type {number[]} */ nodes, /** @type {number} */ at) => {
    if (!parts.isCover(nodes)) return false;
    const lost = [...groups.values()].filter((one) => !one.nodes.length);
    groups = new Map(lost.map((one) => [one.id, one]));
    cutIds(parts, nodes).forEach((id, node) => {
      const whole = parts.groupsOf(node);
      put(id, [node], whole, whole.length === 1 ? [] : [at]);
    });
    for (const id of names.keys()) if (!groups.has(id)) names.delete(id);
    for (const [i, to] of plan.moved) if (!groups.has(to)) plan.moved.delete(i);
    plan.cut = nodes.length;
    return true;
  };
  const move = (
    /** @type {string[]} */ documents,
    /** @type {number} */ to,
    /** @type {number} */ at,
  ) => {
    const found = documents.flatMap((id) => known.get(id) ?? []);
    if (!groups.has(to) || !found.length) return false;
    groups.get(to)?.by.push(at);
    for (const i of found) plan.moved.set(i, to);
    return true;
  };
  const make = (/** @type {Edit} */ edit, /** @type {number} */ at) => {
    if (edit.kind === "merge") return merge(edit.groups, at);
    if (edit.kind === "split") return split(edit.group, at);
    if (edit.kind === "cut") return cut(edit.nodes, at);
    if (edit.kind === "move") return move(edit.documents, edit.group, at);
    if (edit.kind === "drop") return Boolean(plan.dropped.add(edit.word));
    if (edit.kind === "misplaced")
      return known.has(edit.document) && Boolean(plan.misplaced.add(edit.document));
    if (edit.kind === "note document")
      return known.has(edit.document) && Boolean(plan.documentNotes.set(edit.document, edit.text));
    const group = groups.get(edit.group);
    if (!group) return false;
    group.by.push(at);
    if (edit.kind === "name") names.set(edit.group, edit.name);
    else plan.notes.set(edit.group, edit.text);
    return true;
  };
  plan.used = list.map(make);
  for (const group of groups.values()) finish(content, parts, group, names.get(group.id));
  plan.groups = [...groups.values()];
  plan.changed = plan.moved.size > 0 || plan.groups.length !== K || plan.groups.some(isMade);
  plan.holders = Array.from({ length: K }, (_, k) => holderOf(plan.groups, parts, k));
  return plan;
}

/** @param {PlannedGroup} group */
function isMade({ groups, id, divided }) {
  return groups.length !== 1 || groups[0] !== id || divided;
}

/**
 * Name a group.
 * @param {Planned} content @param {ReturnType<typeof readParts>} parts
 * @param {PlannedGroup} group @param {string | undefined} name
 */
function finish(content, parts, group, name) {
  const { names, given_names: people, tree, model } = content;
  const own = group.groups.length === 1 && isWhole(parts, group) ? group.groups[0] : -1;
  const nameOf = (/** @type {number} */ node) =>
    parts.groupsOf(node).length === 1 ? names[parts.groupsOf(node)[0]] : (tree?.names[node] ?? "");
  // The largest part of a group keeps a name that people gave.
  const kept = group.groups.length ? group.groups : [group.id].filter((id) => id < model.n_groups);
  const given = kept.find((k) => people?.includes(k));
  const all = group.nodes.map(nameOf);
  const joined = all.length > JOINED ? [...all.slice(0, JOINED), "…"] : all;
  group.given = name !== undefined;
  if (name !== undefined) group.name = name;
  else if (own >= 0) group.name = names[own];
  else if (given !== undefined) group.name = names[given];
  else group.name = joined.join(" + ");
}

/** @param {ReturnType<typeof readParts>} parts @param {PlannedGroup} group */
function isWhole(parts, { nodes, groups }) {
  return !nodes.length || nodes.flatMap(parts.groupsOf).length === groups.length;
}

// Return the group that a group of the model is in; of a divided one, the part with its number.
/** @param {PlannedGroup[]} groups @param {ReturnType<typeof readParts>} parts @param {number} k */
function holderOf(groups, parts, k) {
  const whole = groups.find((one) => one.groups.includes(k));
  const first = groups.find(({ id }) => id === k);
  const part = groups.find(({ nodes }) => nodes.some((node) => parts.within(node) === k));
  return (whole ?? first ?? part)?.id ?? -1;
}

// Return nodes with their parents in place of them, where all parts of a parent are there.
/** @param {ReturnType<typeof readParts>} parts @param {number[]} nodes */
function joinedNodes(parts, nodes) {
  let found = [...nodes];
  for (let at = 0; at < found.length; at++) {
    const parent = parts.parent(found[at]);
    const both = parent < 0 ? [] : parts.children(parent);
    if (!both.length || !both.every((node) => found.includes(node))) continue;
    found = [...found.filter((node) => !both.includes(node)), parent];
    at = -1;
  }
  return found.sort((a, b) => a - b);
}

// Return the numbers of nodes as groups: that of the group, of the first of several, or of the group that it
// is the largest part of.
/** @param {ReturnType<typeof readParts>} parts @param {number[]} nodes @returns {Map<number, number>} */
function cutIds(parts, nodes) {
  /** @type {Map<number, number>} */
  const largest = new Map();
  for (const node of nodes) {
    const k = parts.within(node);
    const best = largest.get(k);
    if (best === undefined || parts.size(node) > parts.size(best)) largest.set(k, node);
  }
  return new Map(
    nodes.map((node) => {
      const whole = parts.groupsOf(node);
      const k = parts.within(node);
      if (whole.length) return [node, whole[0]];
      return [node, largest.get(k) === node ? k : parts.idOf(node)];
    }),
  );
}

/** Return the number of a node, where these nodes are the groups. @param {Planned} content @param {number[]} nodes */
export function idsOfCut(content, nodes) {
  return cutIds(readParts(content), nodes);
}

/**
 * Return the group of each document after edits.
 * @param {Planned} content @param {Plan} plan @param {ArrayLike<number>} labels of the model
 * @returns {Uint16Array}
 */
export function labelsAfter(content, plan, labels) {
  const { tree, documents, model } = content;
  const leaf = documents?.leaf;
  const inTree = tree && leaf ? readTree(tree) : null;
  const whole = new Set(plan.groups.flatMap(({ groups }) => groups));
  const owner = new Map();
  if (inTree)
    for (const { id, nodes } of plan.groups)
      for (const node of nodes) for (const one of inTree.leavesOf(node)) owner.set(one, id);
  const found = Uint16Array.from(labels, (k, i) => {
    if (k === model.n_groups || k < 0) return model.n_groups;
    const part = leaf && tree && tree.groups[leaf[i]] === k ? owner.get(leaf[i]) : undefined;
    return whole.has(k) || part === undefined ? plan.holders[k] : part;
  });
  for (const [i, to] of plan.moved) found[i] = to;
  return found;
}

/**
 * Return the edits as a file has them: in numbers of groups, or of nodes of the tree where a group has parts.
 * @param {Planned & Pick<Content, "run">} content @param {Plan} plan @returns {EditRecord}
 */
export function recordOf(content, plan) {
  const record = noEdits(content.run);
  const parts = readParts(content);
  const inTree = plan.groups.some((one) => !isWhole(parts, one) || !one.groups.length);
  const members = (/** @type {PlannedGroup} */ one) => (inTree ? one.nodes : one.groups);
  if (inTree) record.nodes = plan.groups.flatMap(({ nodes }) => nodes).sort((a, b) => a - b);
  const first = new Map(plan.groups.map((one) => [one.id, members(one)[0]]));
  for (const group of plan.groups) {
    const several = members(group);
    if (!several.length) continue;
    if (group.given) record.names[several[0]] = group.name;
    if (several.length > 1) record.merge.push(several);
    if (group.divided) record.split.push(several[0]);
    const note = plan.notes.get(group.id);
    if (note) record.notes.groups[several[0]] = note;
  }
  const ids = content.documents?.id ?? [];
  record.move = Object.fromEntries(
    [...plan.moved].map(([i, to]) => [ids[i], /** @type {number} */ (first.get(to))]),
  );
  record.drop_words = [...plan.dropped];
  record.notes.documents = Object.fromEntries(plan.documentNotes);
  record.misplaced = [...plan.misplaced];
  return record;
}

/**
 * Return what is sound of edits that were kept: a browser may hold anything under this name.
 * @param {unknown} found @returns {Edit[]}
 */
export function checkedEdits(found) {
  const { format, version, list } = /** @type {any} */ (found ?? {});
  if (format !== FORMAT || version !== VERSION || !Array.isArray(list)) return [];
  return list.flatMap((one) => {
    const edit = checkedEdit(one);
    return edit ? [edit] : [];
  });
}

/** @param {any} one @returns {Edit | null} */
function checkedEdit(one) {
  const { kind, group, groups, nodes, name, text, word, document, documents } = one ?? {};
  if (kind === "cut" && isListOf(nodes, isNumber)) return { kind, nodes };
  if (kind === "merge" && isListOf(groups, isNumber)) return { kind, groups };
  if (kind === "drop" && isText(word)) return { kind, word };
  if (kind === "misplaced" && isText(document)) return { kind, document };
  if (kind === "note document" && isText(document) && isText(text)) return { kind, document, text };
  if (!isNumber(group)) return null;
  if (kind === "split") return { kind, group };
  if (kind === "name" && isText(name)) return { kind, group, name };
  if (kind === "note" && isText(text)) return { kind, group, text };
  if (kind === "move" && isListOf(documents, isText)) return { kind, documents, group };
  return null;
}

/** @param {unknown} value */
function isNumber(value) {
  return Number.isInteger(value) && Number(value) >= 0;
}

/** @param {unknown} value */
function isText(value) {
  return typeof value === "string" && value !== "";
}

/** @param {unknown} value @param {(one: unknown) => boolean} isOne */
function isListOf(value, isOne) {
  return Array.isArray(value) && value.length > 0 && value.every(isOne);
}

/** What browsers keep. @param {Edit[]} list */
export function keptEdits(list) {
  return { format: FORMAT, version: VERSION, list };
}
