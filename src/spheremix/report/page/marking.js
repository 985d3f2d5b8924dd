// A text with its words marked by what they are to a cluster.

import { make } from "./dom.js";
import { roleOf } from "./words.js";

/** @import { Step } from "./types.d.ts" */

const TOKENS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d]*/gu;

/**
 * @param {Map<string, number>} forms @param {Step} step @param {string} text @param {number} k
 * @param {number} rival
 */
export function markText(forms, step, text, k, rival) {
  const parts = [];
  let written = 0;
  for (const found of text.matchAll(TOKENS)) {
    const j = forms.get(found[0].normalize("NFC").toLowerCase());
    if (j === undefined) continue;
    const role = markOf(step, j, k, rival);
    if (!role) continue;
    if (found.index > written) parts.push(text.slice(written, found.index));
    parts.push(make("span", { class: `mark ${role}`, "data-word": j, text: found[0] }));
    written = found.index + found[0].length;
  }
  if (written < text.length) parts.push(text.slice(written));
  return parts;
}

// Words of the other cluster only are what speaks against this one.
/** @param {Step} step @param {number} j @param {number} k @param {number} rival */
function markOf(step, j, k, rival) {
  const role = roleOf(step, j, k);
  if (role === "other" && rival >= 0 && step.levels[rival * step.W + j] !== 0) return "rival";
  return role === "other" || role === "none" ? null : role;
}

/** @param {boolean} hasRival */
export function markLegend(hasRival) {
  const samples = [
    ["own", "only in this group"],
    ["shared", "shared with some other groups"],
    ["common", "in every group"],
    ["rival", "in the next-best group, not in this one"],
  ];
  return make(
    "p",
    { class: "mark-legend" },
    ...samples
      .slice(0, hasRival ? 4 : 3)
      .map(([role, text]) => make("span", { class: `mark ${role}`, text })),
  );
}
