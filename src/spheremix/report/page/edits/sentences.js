// What an edit is called in lists.

import { bdi } from "../lib/dom.js";
import { counted, countedRows } from "../lib/format.js";

/** @import { App, Edit } from "../types.d.ts" */

// Return the name of a group, which may be gone since.
/** @param {Pick<App, "content" | "edits">} app @param {number} id */
function nameOf({ content, edits }, id) {
  const K = content.model.n_groups;
  const there = edits.plan().groups.find((one) => one.id === id);
  return id < K ? edits.original(id) : (there?.name ?? content.tree?.names[id - K - 1] ?? "");
}

/** @param {Pick<App, "content" | "edits">} app @param {Edit} edit @returns {(Node | string)[]} */
export function tellEdit(app, edit) {
  const name = (/** @type {number} */ id) => bdi(nameOf(app, id));
  switch (edit.kind) {
    case "cut":
      return [`${counted(edit.nodes.length, "group")}, along the tree`];
    case "merge":
      return ["merge: ", ...edit.groups.flatMap((id, i) => (i ? [" + ", name(id)] : [name(id)]))];
    case "split":
      return ["split: ", name(edit.group)];
    case "name":
      return ["rename: ", name(edit.group), " → ", bdi(edit.name)];
    case "move":
      return [`move ${countedRows(edit.documents.length)} to `, name(edit.group)];
    case "drop":
      return ["drop the word ", bdi(edit.word)];
    case "note":
      return ["note on ", name(edit.group), ": ", bdi(edit.text)];
    case "note document":
      return ["note on ", bdi(edit.document), ": ", bdi(edit.text)];
    default:
      return ["misplaced: ", bdi(edit.document)];
  }
}
