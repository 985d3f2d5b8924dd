// Which documents are listed, and in which order.

import { SURE_ORDER, sureOf } from "../groups/certainty.js";
import { chosenId } from "../groups/grouping.js";

/** @import { Content, Documents, Edits, Grouping, Now, Sort } from "../types.d.ts" */

// Return what people call a document: its title, or its id where it has none.
/** @param {Pick<Documents, "id" | "title">} documents @param {number} i */
export function nameOf({ id, title }, i) {
  return title?.[i] || id[i];
}

// Return a search in texts; their lower-case copies are made once, when something is searched for.
/** @param {Pick<Documents, "id" | "title" | "text">} documents */
export function createSearch(documents) {
  /** @type {string[] | null} */
  let lowered = null;
  return (/** @type {string} */ text) => {
    const wanted = text.toLowerCase();
    const texts = (lowered ??= documents.id.map((id, i) =>
      `${id}\n${documents.title?.[i] ?? ""}\n${documents.text?.[i] ?? ""}`.toLowerCase(),
    ));
    return (/** @type {number} */ i) => texts[i].includes(wanted);
  };
}

// Return whether the report has only the beginning of a text.
/** @param {Pick<Documents, "text" | "length">} documents @param {number} i */
export function isCut({ text, length }, i) {
  return Boolean(text && length && length[i] > text[i].length);
}

/** @param {Pick<Documents, "id" | "text" | "length">} documents */
export function anyCut(documents) {
  return documents.id.some((_, i) => isCut(documents, i));
}

// Return the groups whose documents are listed: the chosen one, and those it is to be merged with.
/** @param {Pick<Now, "cut" | "group" | "node">} now @param {Pick<Edits, "together">} edits */
export function listedIds(now, edits) {
  return now.cut ? [now.node] : edits.together(now.group);
}

/**
 * @param {Documents} documents @param {Pick<Grouping, "labels">} groups @param {Now} now
 * @param {(text: string) => (i: number) => boolean} search
 * @param {Pick<Content, "stability" | "model">} content @param {number[]} ids of the groups that are
 * listed
 */
export function listDocuments(documents, groups, now, search, content, ids = [chosenId(now)]) {
  /** @type {((i: number) => boolean)[]} */
  const tests = [];
  const dateOf = (/** @type {number} */ i) => documents.date?.[i] ?? null;
  if (now.scope === "group") tests.push((i) => ids.includes(groups.labels[i]));
  if (now.rival >= 0) tests.push((i) => isBetween(documents, i, now, ids));
  if (now.label >= 0) tests.push((i) => documents.labels?.[i].includes(now.label) ?? false);
  // A year or a month that has the day is listed; a day stands for all of itself, whatever time
  // follows it.
  if (now.from) {
    tests.push((i) => {
      const date = dateOf(i);
      return date !== null && date >= now.from.slice(0, date.length);
    });
  }
  if (now.to)
    tests.push((i) => dateOf(i) !== null && (dateOf(i) ?? "").slice(0, now.to.length) <= now.to);
  if (now.text) tests.push(search(now.text));
  if (now.sure) tests.push((i) => sureOf(content, documents, i) === now.sure);
  const found = [];
  for (let i = 0; i < groups.labels.length; i++) {
    if (tests.every((test) => test(i))) found.push(i);
  }
  return sortDocuments(documents, found, now.sort, content);
}

// Return whether these are the two most probable groups; with all groups listed, either of them.
/** @param {Documents} documents @param {number} i @param {Now} now @param {number[]} ids */
function isBetween({ group, second_group: next }, i, now, ids) {
  const other = group[i] === now.rival ? next?.[i] : group[i];
  const near = group[i] === now.rival || next?.[i] === now.rival;
  const listed = other !== undefined && ids.includes(other);
  return near && (now.scope === "all" || now.cut !== 0 || listed);
}

/**
 * @param {Documents} documents @param {number[]} found @param {Sort} sort
 * @param {Pick<Content, "stability" | "model">} content
 */
function sortDocuments(documents, found, sort, content) {
  const { cosine, log_odds: odds, date } = documents;
  if (sort === "typical") return found.sort((a, b) => cosine[b] - cosine[a] || a - b);
  if (sort === "unlike") return found.sort((a, b) => cosine[a] - cosine[b] || a - b);
  if (sort === "ambiguous") {
    const sure = (/** @type {number} */ i) => SURE_ORDER.indexOf(sureOf(content, documents, i));
    const ranks = new Map(found.map((i) => [i, sure(i)]));
    const rank = (/** @type {number} */ i) => ranks.get(i) ?? 0;
    return found.sort(
      (a, b) =>
        rank(a) - rank(b) ||
        stays(content, a) - stays(content, b) ||
        (odds[a] === odds[b] ? a - b : odds[a] - odds[b]),
    );
  }
  if (sort === "newest" && date)
    return found.sort((a, b) => compare(date[b] ?? "", date[a] ?? "") || a - b);
  return found;
}

// Return the share of samples that orders documents of one word, before their odds.
/** @param {Pick<Content, "stability">} content @param {number} i */
function stays({ stability }, i) {
  return stability?.documents?.[i] ?? 0;
}

/** @param {string} a @param {string} b */
function compare(a, b) {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
