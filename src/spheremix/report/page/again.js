// How much of a group is found again in redrawn samples of the documents: the number, its mark, and
// the rule of the mark, which is told wherever marks are shown.

import { present } from "./dom.js";
import { counted } from "./format.js";
import { FAIR, FIRM } from "./certainty.js";

/** @import { Content, Group } from "./types.d.ts" */

/** @typedef {"weak" | "fair" | "firm"} Level */

/** @type {Record<Level, string>} */
const MARKS = { weak: "! ", fair: "? ", firm: "" };

const LOW = `below ${100 * FAIR} %`;
const HIGH = `below ${100 * FIRM} %`;

/** @param {number} value between 0 and 1 @returns {Level} */
export function levelOf(value) {
  if (value >= FIRM) return "firm";
  return value >= FAIR ? "fair" : "weak";
}

// Rounded down, so that a number that is shown as 50 % has no mark of those below 50 %.
/** @param {number} value between 0 and 1 */
export function againPercent(value) {
  return `${Math.floor(100 * value + 1e-9)} %`;
}

// As the list of groups says it: "! 31 % of it found again".
/** @param {number} value between 0 and 1 */
export function againText(value) {
  return `${MARKS[levelOf(value)]}${againPercent(value)} of it found again`;
}

// What the marks mean that groups of the list have, a line each.
/** @param {Pick<Group, "firmness">[]} groups */
export function marksLines(groups) {
  const levels = groups.flatMap(({ firmness }) => (firmness === null ? [] : [levelOf(firmness)]));
  return present([
    levels.includes("weak") && `! ${LOW} found again: do not rely on it`,
    levels.includes("fair") && `? ${HIGH} found again: look twice`,
  ]);
}

// As the card of the group says it, in a sentence.
/** @param {Pick<Content, "firmness">} content @param {number} value between 0 and 1 */
export function againSentence({ firmness }, value) {
  const level = levelOf(value);
  const samples = counted(firmness?.n_replicates ?? 0, "redrawn sample");
  const only = level === "weak" ? "Only " : "";
  const found = `${MARKS[level]}${only}${againPercent(value)} of this group is found again in ${samples}`;
  if (level === "firm") return `${found}: it is firm.`;
  return level === "fair"
    ? `${found}: look twice before you rely on it (${HIGH}).`
    : `${found}: do not rely on it (${LOW}).`;
}

// What the number is, and which other one it is not.
export const AGAIN_TITLE =
  "Of this group alone: how much of it is found again, on average, when the documents are drawn " +
  `again and the search starts anew. ${100 * FIRM} % or more: firm. “?” ${HIGH}: look twice. ` +
  `“!” ${LOW}: do not rely on the group. In the tables this is the column firmness.`;
