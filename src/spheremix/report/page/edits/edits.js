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

// Groups that are to be one: two pairs with a group in common are one set of three.
/** @param {number[][]} sets @param {number} a @param {number} b */
export function mergeSets(sets, a, b) {
  const joined = sets.filter((one) => one.includes(a) || one.includes(b));
  const found = [...new Set([a, b, ...joined.flat()])].sort((x, y) => x - y);
  return [...sets.filter((one) => !joined.includes(one)), found];
}

// The name of a group in saved tables. Groups that are to be one have one name already: the first new
// name among them, as when the edits are applied; without a new name, all of their names.
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
  let record = read(place, content.run) ?? noEdits(content.run);

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

// A browser may refuse to keep anything: then edits last as long as the page is open.
/** @param {string} place @param {string | null | undefined} run @returns {EditRecord | null} */
function read(place, run) {
  try {
    const found = JSON.parse(localStorage.getItem(place) ?? "null");
    return found?.format === FORMAT && found.version === VERSION
      ? { ...noEdits(run), ...found }
      : null;
  } catch {
    return null;
  }
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
