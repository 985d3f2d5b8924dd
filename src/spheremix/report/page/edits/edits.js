// What the reader changes: names, merges, words to drop, notes. Kept in the browser where that is
// allowed, and exported as edits.json, which the command applies to the run.

/** @import { Content, EditRecord, Edits, State } from "../types.d.ts" */

const FORMAT = "spheremix edits";
const VERSION = 1;

/** @param {string | null | undefined} run @returns {EditRecord} */
export function noEdits(run) {
  return {
    format: FORMAT,
    version: VERSION,
    run: run ?? null,
    names: {},
    merge: [],
    split: [],
    drop_words: [],
    notes: { groups: {}, documents: {} },
    misplaced: [],
  };
}

/** @param {EditRecord} record */
export function countEdits(record) {
  return (
    Object.keys(record.names).length +
    record.merge.length +
    record.split.length +
    record.drop_words.length +
    Object.keys(record.notes.groups).length +
    Object.keys(record.notes.documents).length +
    record.misplaced.length
  );
}

// Return sets of groups that are to be one: two pairs with a group in common are one set.
/** @param {number[][]} sets @param {number} a @param {number} b */
export function mergeSets(sets, a, b) {
  const joined = sets.filter((one) => one.includes(a) || one.includes(b));
  const found = [...new Set([a, b, ...joined.flat()])].sort((x, y) => x - y);
  return [...sets.filter((one) => !joined.includes(one)), found];
}

// Return the name of a group in saved tables. Groups that are to be one have one name already: the
// first new name among them, as when the edits are applied; without a new name, all of their names.
/** @param {Pick<EditRecord, "merge" | "names">} record @param {string[]} names @param {number} k */
export function mergedName({ merge, names: given }, names, k) {
  const set = merge.find((one) => one.includes(k));
  if (!set) return names[k];
  const named = set.find((one) => given[one]);
  return named === undefined ? set.map((one) => names[one]).join(" + ") : given[named];
}

/** @param {Content} content @param {State} state @returns {Edits} */
export function createEdits(content, state) {
  const place = `spheremix edits of ${content.run ?? `${content.title} ${content.corpus.n_kept}`}`;
  const original = [...content.names];
  let record = checkedEdits(read(place), content.run, original.length);

  // Names are read by all parts of the page from the content.
  const rename = () => {
    original.forEach((name, k) => (content.names[k] = record.names[k] || name));
  };
  const change = (/** @type {(record: EditRecord) => void} */ action) => {
    action(record);
    rename();
    write(place, countEdits(record) ? record : null);
    state.set({ edited: state.now.edited + 1 });
  };
  rename();
  return {
    record: () => record,
    change,
    clear: () =>
      change(() => {
        record = noEdits(content.run);
      }),
    original: (k) => original[k],
    together: (k) => record.merge.find((one) => one.includes(k)) ?? [k],
    nameInTables: (k) => mergedName(record, content.names, k),
    isDropped: (word) => record.drop_words.includes(word),
    isMisplaced: (id) => record.misplaced.includes(id),
  };
}

/**
 * Return what is sound of edits that were kept: a browser may hold anything under this name. What is
 * not of its kind, or speaks of groups that are not there, is left out.
 * @param {any} found @param {string | null | undefined} run @param {number} K of the groups
 * @returns {EditRecord}
 */
export function checkedEdits(found, run, K) {
  const record = noEdits(run);
  if (found?.format !== FORMAT || found.version !== VERSION) return record;
  const isGroup = (/** @type {unknown} */ k) =>
    Number.isInteger(k) && Number(k) >= 0 && Number(k) < K;
  const isKey = (/** @type {string} */ k) => /^\d+$/u.test(k) && isGroup(Number(k));
  record.names = textsOf(found.names, isKey);
  const merged = new Set();
  for (const several of listOf(found.merge, Array.isArray)) {
    const set = listOf(several, isGroup);
    if (set.length < 2 || set.length < several.length || set.some((k) => merged.has(k))) continue;
    set.forEach((k) => merged.add(k));
    record.merge.push(set);
  }
  record.split = listOf(found.split, isGroup);
  record.drop_words = listOf(found.drop_words, isText);
  record.notes.groups = textsOf(found.notes?.groups, isKey);
  record.notes.documents = textsOf(found.notes?.documents, isText);
  record.misplaced = listOf(found.misplaced, isText);
  return record;
}

/** @param {unknown} value */
function isText(value) {
  return typeof value === "string" && value !== "";
}

/** @param {unknown} found @param {(value: any) => boolean} isOne @returns {any[]} each once */
function listOf(found, isOne) {
  return Array.isArray(found) ? [...new Set(found)].filter(isOne) : [];
}

/** @param {unknown} found @param {(key: string) => boolean} isKey @returns {Record<string, string>} */
function textsOf(found, isKey) {
  if (typeof found !== "object" || found === null || Array.isArray(found)) return {};
  return Object.fromEntries(Object.entries(found).filter(([k, text]) => isKey(k) && isText(text)));
}

// Return what is kept; a browser may refuse: then edits last as long as the page is open.
/** @param {string} place @returns {unknown} */
function read(place) {
  try {
    return JSON.parse(localStorage.getItem(place) ?? "null");
  } catch {
    return null;
  }
}

// Return the note on a group or a document, whose id may be the name of a property of every object.
/** @param {Record<string, string> | undefined} notes @param {string | number} key */
export function noteOf(notes, key) {
  return notes && Object.hasOwn(notes, key) ? notes[key] : undefined;
}

/** @param {string} place @param {EditRecord | null} record */
function write(place, record) {
  try {
    if (record) localStorage.setItem(place, JSON.stringify(record));
    else localStorage.removeItem(place);
  } catch {
    // Nothing can be done: the export still has them.
  }
}
