// Which documents are listed, and in which order.

import { SURE_ORDER, sureOf } from "../groups/certainty.js";
import { chosenId } from "../groups/grouping.js";
import { byShare, firstOfEach } from "./passages.js";

/** @import { Content, Documents, Grouping, Listing, Now, Rows, Sort, Sure } from "../types.d.ts" */

const TITLE = 100; // characters of a first line that is a title
const BEGINNING = 72; // characters of a longer one that stand for it

/**
 * Return what people call a document: its title, or its first line where it has none, or its id.
 * @param {Pick<Documents, "id" | "title" | "text">} documents @param {number} i
 */
export function nameOf({ id, title, text }, i) {
  return title?.[i] || firstLine(text?.[i] ?? "").line || id[i];
}

/**
 * Return the first line of a text, or the beginning of a long one, and what follows.
 * @param {string} text
 */
export function firstLine(text) {
  const whole = text.slice(0, 2000).trimStart();
  const end = whole.search(/[\r\n]/u);
  const first = end < 0 ? whole : whole.slice(0, end);
  if (first.length <= TITLE) return { line: first.trim(), rest: whole.slice(first.length) };
  const cut = first.slice(0, BEGINNING).replace(/\s+\S*$/u, "");
  return { line: `${cut} …`, rest: `… ${whole.slice(cut.length).trimStart()}` };
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

// What asks for fewer documents, or for those of all groups: nothing of it.
/** @type {Partial<Now>} */
export const UNFILTERED = {
  scope: "group",
  text: "",
  word: -1,
  label: -1,
  rival: -1,
  from: "",
  to: "",
  lasso: "",
};

/** Return whether any filter is set. @param {Now} now */
export function isFiltered(now) {
  const filters = /** @type {(keyof typeof UNFILTERED)[]} */ (Object.keys(UNFILTERED));
  return filters.some((key) => key !== "scope" && now[key] !== UNFILTERED[key]);
}

/** @typedef {Pick<Content, "stability" | "model"> & { rows?: Rows | null }} Known */

// Return the documents that are asked for, in the order of their list.
/**
 * @param {Documents} documents @param {Pick<Grouping, "labels"> & Partial<Grouping>} groups @param {Now} now
 * @param {(text: string) => (i: number) => boolean} search @param {Known} content
 * @param {((i: number) => boolean) | null} inside what is drawn around on the map
 */
export function listDocuments(documents, groups, now, search, content, inside = null) {
  const found = filterDocuments(documents, groups, now, search, content, inside);
  const wanted = { typical: "central", borderline: "unsure", all: now.sort }[now.list];
  const { passages } = documents;
  const shares = wanted === "share" && passages ? { ...documents, passages } : null;
  const sort = shares ? "central" : /** @type {Sort} */ (wanted);
  const sorted = sortDocuments(
    documents,
    partOf(content, documents, found, now.list),
    sort,
    content,
  );
  if (shares) return byShare(shares, groups.labels, sorted);
  return passages && now.list === "typical" ? firstOfEach(passages, sorted) : sorted;
}

const FOR_SURE = /** @type {Sure[]} */ (["clearly", "probably", "nowhere"]);

// Return the part of documents that a list has: the typical ones are the surest there are, none of them
// borderline.
/**
 * @param {Known} content @param {Documents} documents @param {number[]} found @param {Listing} list
 */
function partOf(content, documents, found, list) {
  if (list === "all") return found;
  const sure = found.map((i) => sureOf(content, documents, i));
  const wanted = list === "borderline" ? list : FOR_SURE.find((one) => sure.includes(one));
  return found.filter((_, at) => sure[at] === wanted);
}

/**
 * Return the documents that pass all filters, in their own order.
 * @param {Documents} documents @param {Pick<Grouping, "labels"> & Partial<Grouping>} groups @param {Now} now
 * @param {(text: string) => (i: number) => boolean} search @param {Known} content
 * @param {((i: number) => boolean) | null} inside
 */
export function filterDocuments(documents, groups, now, search, content, inside = null) {
  /** @type {((i: number) => boolean)[]} */
  const tests = [];
  const dateOf = (/** @type {number} */ i) => documents.date?.[i] ?? null;
  const chosen = chosenId(now);
  if (now.scope === "group") tests.push((i) => groups.labels[i] === chosen);
  if (now.rival >= 0) tests.push((i) => isBetween(documents, i, now, groups));
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
  if (now.word >= 0 && content.rows) tests.push(hasWord(content.rows, now.word));
  if (inside) tests.push(inside);
  const found = [];
  for (let i = 0; i < groups.labels.length; i++) {
    if (tests.every((test) => test(i))) found.push(i);
  }
  return found;
}

// Return whether a word is among those that the report has of a document.
/** @param {Rows} rows @param {number} word */
function hasWord({ indptr, words }, word) {
  return (/** @type {number} */ i) => {
    for (let at = indptr[i]; at < indptr[i + 1]; at++) if (words[at] === word) return true;
    return false;
  };
}

// Return whether these are the two most probable groups; with all groups listed, either of them.
/** @param {Documents} documents @param {number} i @param {Now} now @param {Partial<Grouping>} groups */
function isBetween({ group, second_group: next }, i, now, { holderOf }) {
  const other = group[i] === now.rival ? next?.[i] : group[i];
  const near = group[i] === now.rival || next?.[i] === now.rival;
  const listed = other !== undefined && (holderOf?.(other) ?? other) === chosenId(now);
  return near && (now.scope === "all" || now.cut !== 0 || listed);
}

/**
 * @param {Documents} documents @param {number[]} found @param {Sort} sort
 * @param {Known} content
 */
function sortDocuments(documents, found, sort, content) {
  const { cosine, log_odds: odds, date } = documents;
  if (sort === "central") return found.sort((a, b) => cosine[b] - cosine[a] || a - b);
  if (sort === "unlike") return found.sort((a, b) => cosine[a] - cosine[b] || a - b);
  if (sort === "unsure") {
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
