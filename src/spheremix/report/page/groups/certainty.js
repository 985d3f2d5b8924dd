// How sure something is, in words: documents, words, and the stability of groups. Numbers follow where
// they are asked for.

import { present } from "../lib/dom.js";
import { counted, countedRows, integer, oddsText } from "../lib/format.js";
import { isNowhere, NOWHERE } from "./grouping.js";

/** @import { Certainty, Content, Documents, Group, Now, Sure } from "../types.d.ts" */

export const STABLE = 0.75; // from here on one can rely on the place of a document
export const UNSTABLE = 0.5; // below this, it is often elsewhere when the documents are drawn again
export const AGREED = 0.6; // of restarts: below this the terminal warns

// Odds of 9 to 1 and of 99 to 1, as logarithms.
const BORDERLINE = Math.log(9);
export const CLEAR = Math.log(99);

// Return a share of the redrawn samples: "7 of 20", "none of the 20".
/** @param {number} value between 0 and 1 @param {number} n of the samples */
export function timesOf(value, n) {
  const times = Math.round(value * n);
  return times ? `${times} of ${n}` : `none of the ${n}`;
}

// Return the same where that is few: "only 7 of 20".
/** @param {number} value between 0 and 1 @param {number} n of the samples */
export function onlyOf(value, n) {
  return `${Math.round(value * n) ? "only " : ""}${timesOf(value, n)}`;
}

/** @param {number} value between 0 and 1 @param {number} n of the samples */
export function ofSamples(value, n) {
  return `${timesOf(value, n)} redrawn samples`;
}

// Return how far two groupings agree, 0.75 as "75 %", rounded down: a limit shown is not below it.
/** @param {number} value an adjusted Rand index */
export function agreementPercent(value) {
  return `${Math.floor(100 * value + 1e-9)} %`.replace("-", "−");
}

/** Return 0.96 as ".96"; whole numbers as they are. @param {number} value */
export function share(value) {
  const text = value.toFixed(2);
  return value >= 0 && value < 0.995 ? text.slice(1) : text.replace("-", "−");
}

// Return how far another search, or other samples of the documents, lead to the same groups.
/** @param {number} value */
export function samenessWord(value) {
  if (value >= 0.9) return "the same groups";
  if (value >= 0.75) return "mostly the same groups";
  return value >= AGREED ? "partly the same groups" : "other groups";
}

// Return the same as what stands beside the title.
/** @param {number} value */
export function stableWord(value) {
  if (value >= 0.9) return "stable";
  if (value >= 0.75) return "mostly stable";
  return value >= AGREED ? "partly stable" : "! unstable";
}

/**
 * Return the word by stability, where it was measured; else by the odds against the second group.
 * @param {Pick<Content, "stability">} content @param {Pick<Documents, "log_odds">} documents
 * @param {number} i @returns {Certainty}
 */
export function certaintyOf(content, documents, i) {
  const measured = content.stability?.documents?.[i];
  if (measured !== undefined) {
    if (measured >= STABLE) return "clearly";
    return measured >= UNSTABLE ? "probably" : "borderline";
  }
  const odds = documents.log_odds[i];
  if (odds < BORDERLINE) return "borderline";
  return odds < CLEAR ? "probably" : "clearly";
}

// What a document can be, the one to distrust most first, and how that is called.
/** @type {Record<Sure, string>} */
export const SURE_NAMES = {
  borderline: "borderline",
  nowhere: NOWHERE,
  probably: "probably here",
  clearly: "clearly here",
};
export const SURE_ORDER = /** @type {Sure[]} */ (Object.keys(SURE_NAMES));

/**
 * @param {Pick<Content, "stability" | "model">} content
 * @param {Pick<Documents, "log_odds" | "group">} documents @param {number} i @returns {Sure}
 */
export function sureOf(content, documents, i) {
  return isNowhere(content, documents, i) ? "nowhere" : certaintyOf(content, documents, i);
}

/**
 * Return how many of the listed documents are what.
 * @param {Pick<Content, "stability" | "model">} content
 * @param {Pick<Documents, "log_odds" | "group">} documents @param {Iterable<number>} items
 */
export function countSure(content, documents, items) {
  /** @type {Record<Sure, number>} */
  const counts = { borderline: 0, nowhere: 0, probably: 0, clearly: 0 };
  for (const i of items) counts[sureOf(content, documents, i)]++;
  return counts;
}

/**
 * Return what speaks against the group of a document that is borderline: the redrawn samples, where
 * they decide, and odds of this fit below 9 to 1.
 * @param {Pick<Content, "stability">} content @param {Pick<Documents, "log_odds">} documents
 * @param {number} i
 */
export function borderlineBy({ stability }, documents, i) {
  const measured = stability?.documents?.[i];
  const odds = documents.log_odds[i];
  const samples =
    stability && measured !== undefined && measured < UNSTABLE
      ? `${Math.round(measured * stability.n_replicates)} of ${stability.n_replicates}`
      : "";
  const counts = measured === undefined || samples;
  return { odds: counts && odds < BORDERLINE ? oddsText(odds) : "", samples };
}

/**
 * Return what a row of the list says: "borderline (7 of 20)", "borderline (2.3 to 1)"; where the
 * list has borderline documents only, just what makes it so. The samples go before the odds, as in
 * the order of the list.
 * @param {Pick<Content, "stability" | "model">} content
 * @param {Pick<Documents, "log_odds" | "group">} documents @param {number} i
 * @param {boolean} known whether all documents of the list are borderline
 */
export function sureText(content, documents, i, known) {
  const sure = sureOf(content, documents, i);
  if (sure !== "borderline") return SURE_NAMES[sure];
  const { odds, samples } = borderlineBy(content, documents, i);
  if (known) return samples ? `${samples} samples` : odds;
  return `${SURE_NAMES[sure]} (${samples || odds})`;
}

/**
 * Return why a document is borderline, in a few words; of others nothing.
 * @param {Pick<Content, "stability" | "model">} content
 * @param {Pick<Documents, "log_odds" | "group">} documents @param {number} i
 */
export function borderlineReason(content, documents, i) {
  if (sureOf(content, documents, i) !== "borderline") return "";
  const { odds, samples } = borderlineBy(content, documents, i);
  const close = odds && `in this fit the odds for its group are only ${odds}`;
  const measured = content.stability?.documents?.[i] ?? 0;
  const unstable =
    samples &&
    `it is in its group in ${onlyOf(measured, content.stability?.n_replicates ?? 0)} redrawn samples`;
  return close && unstable ? `${close}, and ${unstable}` : close || unstable;
}

/**
 * Return the same in a phrase: "borderline with film".
 * @param {Pick<Content, "stability" | "names" | "model">} content
 * @param {Pick<Documents, "log_odds" | "second_group" | "group">} documents @param {number} i
 */
export function certaintyText(content, documents, i) {
  if (isNowhere(content, documents, i)) return NOWHERE;
  const found = certaintyOf(content, documents, i);
  const next = documents.second_group?.[i];
  if (found !== "borderline") return `${found} here`;
  return next !== undefined ? `borderline with ${content.names[next]}` : found;
}

/**
 * Return which of the documents that are listed not to rely on; nothing where all belong nowhere.
 * @param {Pick<Content, "stability" | "model">} content
 * @param {Pick<Documents, "log_odds" | "group">} documents @param {number[]} items
 * @param {boolean} sorted whether the least sure come first
 */
export function borderlineText(content, documents, items, sorted) {
  const { borderline: n, nowhere: lost } = countSure(content, documents, items);
  const placed = items.length - lost;
  if (!placed) return "";
  const order = sorted && items.length > 1 ? " The least sure come first." : "";
  if (!n) return `No document here is borderline.${order}`;
  const [are, their] = n === 1 ? ["is", "its"] : ["are", "their"];
  const every = n > 1 ? `All ${integer(n)} documents` : "The one document";
  const some = n === placed ? every : `${integer(n)} of ${countedRows(placed)}`;
  return `${some} here ${are} borderline: do not rely on ${their} group.${order}`;
}

// Return what certainty is told for, where other groups or other words are shown; else nothing.
/** @param {Pick<Content, "chosen" | "model">} content @param {Pick<Now, "cut" | "step">} now */
export function sureScope({ chosen, model }, { cut, step }) {
  if (cut) return `for the ${model.n_groups} groups of the model`;
  return step === chosen ? "" : "for the chosen number of words";
}

// Return the same for the head of the list; some orders are told for the same as certainty.
/** @param {Pick<Content, "chosen" | "model">} content @param {Pick<Now, "cut" | "step" | "sort">} now */
export function scopeText(content, now) {
  const scope = sureScope(content, now);
  if (!scope) return "";
  const free = now.sort === "newest" || now.sort === "given";
  return `${free ? "how sure is" : "order and how sure are"} told ${scope}`;
}

/**
 * Return the second group: "or film" where a document is borderline, else "second: film".
 * @param {Pick<Content, "stability" | "names" | "model">} content
 * @param {Pick<Documents, "log_odds" | "second_group" | "group">} documents @param {number} i
 */
export function secondText(content, documents, i) {
  const next = documents.second_group?.[i];
  const sure = sureOf(content, documents, i);
  if (next === undefined || sure === "nowhere") return "";
  return `${sure === "borderline" ? "or" : "second:"} ${content.names[next]}`;
}

// Return the stability of a word of a group, null where it was not looked for in the samples.
/** @param {Pick<Content, "stability">} content @param {number} k @param {number} j */
export function wordStability({ stability }, k, j) {
  if (!stability) return null;
  const { ends, places, shares } = stability.words;
  for (let at = ends[k]; at < ends[k + 1]; at++) if (places[at] === j) return shares[at];
  return null;
}

// The stability of a group, how much of it comes back in redrawn samples: the number, its mark, and
// the rule of the mark, which is told wherever marks are shown.

/** @typedef {"weak" | "fair" | "stable"} Level */

/** @type {Record<Level, string>} */
const MARKS = { weak: "! ", fair: "? ", stable: "" };

const LOW = `below ${100 * UNSTABLE} %`;
const HIGH = `below ${100 * STABLE} %`;

/** @param {number} value between 0 and 1 @returns {Level} */
export function levelOf(value) {
  if (value >= STABLE) return "stable";
  return value >= UNSTABLE ? "fair" : "weak";
}

// Return the sign of the list of groups: "!", "?" or nothing.
/** @param {number} value between 0 and 1 */
export function stabilityMark(value) {
  return MARKS[levelOf(value)].trim();
}

// Return the same with its number: "! stability 31 %".
/** @param {number} value between 0 and 1 */
export function stabilityPhrase(value) {
  return `${MARKS[levelOf(value)]}stability ${agreementPercent(value)}`;
}

// Return what the marks mean that groups of the list have, a line each.
/** @param {Pick<Group, "stability">[]} groups */
export function marksLines(groups) {
  const levels = groups.flatMap(({ stability }) =>
    stability === null ? [] : [levelOf(stability)],
  );
  return present([
    levels.includes("weak") && `! stability ${LOW}: do not rely on it`,
    levels.includes("fair") && `? stability ${HIGH}: look twice`,
  ]);
}

// Return what the card of the group says, in a sentence.
/** @param {Pick<Content, "stability">} content @param {number} value between 0 and 1 */
export function stabilitySentence({ stability }, value) {
  const level = levelOf(value);
  const samples = counted(stability?.n_replicates ?? 0, "redrawn sample");
  const found = `${MARKS[level]}Stability ${agreementPercent(value)} in ${samples}`;
  if (level === "stable") return `${found}: this group is stable.`;
  return level === "fair"
    ? `${found}: look twice before you rely on it (${HIGH}).`
    : `${found}: do not rely on this group (${LOW}).`;
}

// What the number is, and which other one it is not.
export const STABILITY_TITLE =
  "The stability of this group alone: how much of it comes back, on average, when the documents are drawn " +
  `again and the search starts anew. ${100 * STABLE} % or more: stable. “?” ${HIGH}: look twice. ` +
  `“!” ${LOW}: do not rely on the group. In the tables this is the column stability.`;
