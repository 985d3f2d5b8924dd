// Numbers as people read them.

/** @import { Content } from "../types.d.ts" */

// Zero has no sign.
const signDisplay = /** @type {const} */ ("negative");
const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0, signDisplay });
const short = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 3, signDisplay });

/** @param {number} value */
export function integer(value) {
  return whole.format(value);
}

/** @param {number | null | undefined} value */
export function decimal(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value !== 0 && Math.abs(value) < 1e-4) return value.toExponential(1).replaceAll("-", "−");
  return (Math.abs(value) >= 1000 ? whole : short).format(value).replace("-", "−");
}

/** @param {number} share */
export function percent(share) {
  const value = 100 * share;
  // What is rounded must not become all or nothing.
  if (value > 0 && value < 0.05) return "< 0.1 %";
  if (value >= 99.95 && value < 100) return "> 99.9 %";
  const digits = value > 0 && value < 100 && (value < 1 || value > 99) ? 1 : 0;
  return `${value.toFixed(digits)} %`;
}

/** @param {number} number @param {string} noun */
export function counted(number, noun, plural = `${noun}s`) {
  return `${integer(number)} ${number === 1 ? noun : plural}`;
}

// What the rows are that a page lists: documents, or passages of them.
let row = "document";

/** @param {Pick<Content, "documents">} content */
export function nameRows({ documents }) {
  row = documents?.passages ? "passage" : "document";
}

/** @param {number} number */
export function countedRows(number) {
  return counted(number, row);
}

/** Return what columns are. @param {Pick<Content, "kind">} content */
export function nounOf({ kind }) {
  return kind === "coordinates" ? "coordinate" : "word";
}

/** Return the first parts of a name, or words where it has one part. @param {string} name @param {number} n */
export function firstParts(name, n) {
  const between = name.includes(" · ") ? " · " : " ";
  return name.split(between).slice(0, n).join(between);
}

/** @param {string} text */
export function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

// Return whether any step has a penalty: embeddings are usually left without one.
/** @param {Pick<Content, "steps">} content */
export function hasPenalty({ steps }) {
  return steps.some(({ beta }) => beta > 0);
}

// Return whether each group has every column: then none is its own, and no share is worth telling.
/** @param {Pick<Content, "kind" | "steps">} content */
export function isDense(content) {
  return content.kind === "coordinates" && !hasPenalty(content);
}

// Return how many of the columns a page shows; empty where it shows all.
/** @param {Pick<Content, "kind" | "model">} content */
export function shownOfAll(content) {
  const { n_words: all, n_words_shown: shown } = content.model;
  return shown < all ? `${integer(shown)} of ${counted(all, nounOf(content))}` : "";
}

// Return what to add where it holds at one place of a path only.
/** @param {Pick<Content, "steps">} content */
export function atThisBeta({ steps }) {
  return steps.length > 1 ? " at this number of words" : "";
}

/** @param {number} value */
export function signed(value) {
  return value > 0 ? `+${decimal(value)}` : decimal(value);
}

/** @param {string} name */
export function criterionName(name) {
  if (name === "advice") return "the advice";
  return name === "ricc" ? "RICc" : name.toUpperCase();
}

// Return odds; posteriors of long documents are 1 to the last digit, which says little.
/** @param {number} logOdds */
export function oddsText(logOdds) {
  const odds = Math.exp(logOdds);
  if (odds >= 1e6) return "more than a million to 1";
  return `${odds < 10 ? odds.toFixed(1) : integer(Number(odds.toPrecision(2)))} to 1`;
}

// Return a posterior; of long documents it is 1 to the last digit, which says little.
/** @param {number} posterior */
export function posteriorText(posterior) {
  return posterior < 0.9995 ? posterior.toFixed(3) : "> 0.999";
}
