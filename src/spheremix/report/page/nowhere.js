// Documents that fit no group. They have the number after the last one, and stand apart: no share
// of a group counts them, and nothing can be merged with them or split off.

/** @import { Content, Documents, Group, Grouping, Step } from "./types.d.ts" */

export const NOWHERE = "belongs nowhere";
const GREY = { light: "#8a8a8a", dark: "#8f8f8f" };

// An entry of its own, beside the groups; null where the model gives every document a group.
/** @param {Pick<Content, "model">} content @param {number} id @param {Grouping["labels"]} labels */
export function nowhereGroup({ model }, id, labels) {
  if (!model.has_nowhere || !labels.length) return null;
  let size = 0;
  for (const one of labels) if (one === id) size++;
  /** @type {Group} */
  const group = {
    id,
    cluster: -1,
    name: () => NOWHERE,
    size,
    words: [],
    own: [],
    only: [],
    firmness: null,
    colour: GREY,
  };
  return group;
}

// Whether a document belongs nowhere in the chosen mixture.
/** @param {Pick<Content, "model">} content @param {Pick<Documents, "cluster">} documents @param {number} i */
export function isNowhere({ model }, { cluster }, i) {
  return cluster[i] === model.n_clusters;
}

// The cluster whose words explain a document, and the one it is compared with; -1: none. That is
// its own and the next best, or the one it has left at this step. Of a document that belongs
// nowhere it is the nearest one.
/**
 * @param {Pick<Documents, "cluster" | "runner_up">} documents
 * @param {Pick<Step, "labels" | "K">} step @param {number} i
 */
export function placeOf({ cluster, runner_up: next }, { labels, K }, i) {
  const nearest = next ? next[i] : 0;
  const chosen = cluster[i] === K ? nearest : cluster[i];
  if (labels[i] === K) return { k: chosen, rival: -1 };
  const k = labels[i];
  if (chosen !== k) return { k, rival: chosen };
  return { k, rival: next && cluster[i] !== K ? next[i] : -1 };
}
