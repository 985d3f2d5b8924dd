// How sure something is, in words. Numbers follow where they are asked for.

import { counted, integer } from "./format.js";
import { isNowhere, NOWHERE } from "./nowhere.js";

/** @import { Content, Documents } from "./types.d.ts" */

const FIRM = 0.75; // from here on one can rely on the place of a document
export const FAIR = 0.5; // below this, it would not survive other documents
export const AGREED = 0.6; // of restarts: below this the terminal warns

// Odds of 9 to 1 and of 99 to 1, as logarithms.
const BORDERLINE = Math.log(9);
const CLEAR = Math.log(99);

// A share of the samples in which the groups were looked for again, in words.
/** @param {number} value between 0 and 1 @param {number} n of the samples */
export function ofSamples(value, n) {
  return `${Math.round(value * n)} of ${n} redrawn samples`;
}

// 0.96 as ".96"; whole numbers as they are.
/** @param {number} value */
export function share(value) {
  const text = value.toFixed(2);
  return value >= 0 && value < 0.995 ? text.slice(1) : text.replace("-", "−");
}

// How far another search, or other samples of the documents, give the same groups.
/** @param {number} value */
export function samenessWord(value) {
  if (value >= 0.9) return "the same groups";
  if (value >= 0.75) return "mostly the same groups";
  return value >= AGREED ? "partly the same groups" : "other groups";
}

/** @typedef {"clearly" | "probably" | "borderline"} Certainty */

// By firmness, where it was measured; else by the odds against the next-best cluster.
/**
 * @param {Pick<Content, "firmness">} content @param {Pick<Documents, "log_odds">} documents
 * @param {number} i @returns {Certainty}
 */
export function certaintyOf(content, documents, i) {
  const firmness = content.firmness?.documents?.[i];
  const odds = documents.log_odds[i];
  if (odds < BORDERLINE) return "borderline";
  if (firmness !== undefined) {
    if (firmness >= FIRM) return "clearly";
    return firmness >= FAIR ? "probably" : "borderline";
  }
  return odds < CLEAR ? "probably" : "clearly";
}

// The same in a phrase: "borderline with film".
/**
 * @param {Pick<Content, "firmness" | "names" | "model">} content
 * @param {Pick<Documents, "log_odds" | "runner_up" | "cluster">} documents @param {number} i
 */
export function certaintyText(content, documents, i) {
  if (isNowhere(content, documents, i)) return NOWHERE;
  const found = certaintyOf(content, documents, i);
  const next = documents.runner_up?.[i];
  if (found !== "borderline") return `${found} here`;
  return next !== undefined ? `borderline with ${content.names[next]}` : found;
}

// Which of the documents that are listed not to rely on; nothing where all belong nowhere.
/**
 * @param {Pick<Content, "firmness" | "model">} content
 * @param {Pick<Documents, "log_odds" | "cluster">} documents @param {number[]} items
 */
export function borderlineText(content, documents, items) {
  const placed = items.filter((i) => !isNowhere(content, documents, i));
  if (!placed.length) return "";
  const n = placed.filter((i) => certaintyOf(content, documents, i) === "borderline").length;
  // Documents that belong nowhere stand among the others, by how unclear they are.
  const sorted = placed.length === items.length;
  if (!n) return `No document here is borderline${sorted ? ": the least clear come first" : ""}.`;
  const [are, their, come] = n === 1 ? ["is", "its", "It comes"] : ["are", "their", "They come"];
  const all = counted(placed.length, "document");
  return `${integer(n)} of ${all} here ${are} borderline: do not rely on ${their} group.${sorted ? ` ${come} first.` : ""}`;
}

// The next-best group, where the phrase does not name it: "next: film"; else nothing.
/**
 * @param {Pick<Content, "firmness" | "names" | "model">} content
 * @param {Pick<Documents, "log_odds" | "runner_up" | "cluster">} documents @param {number} i
 */
export function nextText(content, documents, i) {
  const next = documents.runner_up?.[i];
  if (next === undefined || isNowhere(content, documents, i)) return "";
  return certaintyOf(content, documents, i) === "borderline" ? "" : `next: ${content.names[next]}`;
}

// Of the words of a group that were looked for in the groups found again; null for the others.
/** @param {Pick<Content, "firmness">} content @param {number} k @param {number} j */
export function wordFirmness({ firmness }, k, j) {
  if (!firmness) return null;
  const { ends, places, shares } = firmness.words;
  for (let at = ends[k]; at < ends[k + 1]; at++) if (places[at] === j) return shares[at];
  return null;
}
