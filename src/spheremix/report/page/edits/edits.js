// What the reader changes: a list of edits, kept in the browser where that is allowed.

import { applyEdits, checkedEdits, keptEdits, recordOf } from "./plan.js";

/** @import { Content, Edit, Edits, Now } from "../types.d.ts" */

/** @param {Content} content @param {(more: Partial<Now>) => void} onChange @returns {Edits} */
export function createEdits(content, onChange) {
  const place = `spheremix edits of ${content.run ?? `${content.title} ${content.corpus.n_kept}`}`;
  const original = [...content.names];
  const before = { ...content, names: original };
  let list = checkedEdits(read(place));
  let plan = applyEdits(before, list);

  const make = () => {
    plan = applyEdits(before, list);
    list = list.filter((_, i) => plan.used[i]);
    // Names are read by all parts of the page from the content.
    const named = new Map(plan.groups.map(({ id, name }) => [id, name]));
    original.forEach((name, k) => (content.names[k] = named.get(plan.holders[k]) ?? name));
  };
  make();
  const change = (
    /** @type {(list: Edit[]) => Edit[]} */ action,
    /** @type {Partial<Now>} */ more = {},
  ) => {
    list = action([...list]);
    make();
    write(place, list.length ? keptEdits(list) : null);
    onChange(more);
  };
  return {
    list: () => list,
    plan: () => plan,
    record: () => recordOf(before, plan),
    change,
    clear: () => change(() => []),
    original: (k) => original[k],
    isDropped: (word) => plan.dropped.has(word),
    isMisplaced: (id) => plan.misplaced.has(id),
  };
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

/** @param {string} place @param {unknown} kept */
function write(place, kept) {
  try {
    if (kept) localStorage.setItem(place, JSON.stringify(kept));
    else localStorage.removeItem(place);
  } catch {
    // Nothing can be done: the export still has them.
  }
}
