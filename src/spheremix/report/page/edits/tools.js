// What can be done with a group or a document, and the questions that are asked.

import { readTree } from "../groups/tree.js";
import { bdi, find, make, present, rove, selectOf, softLine, textButton } from "../lib/dom.js";
import { seenColour } from "../lib/colours.js";
import { counted, integer } from "../lib/format.js";
import { noteOf } from "./edits.js";
import { idsOfCut } from "./plan.js";
import { tellEdit } from "./sentences.js";

/** @import { App, Documents, Edit, Group } from "../types.d.ts" */

/** @type {(text: string, title: string, click: () => void) => HTMLElement} */
const tool = (text, title, click) => make("button", { type: "button", text, title, on: { click } });

/**
 * Make edits of the groups that are shown. At another number of groups, these are made the groups first.
 * @param {App} app @param {(idOf: (id: number) => number) => Edit[]} editsOf with the number that a group has then
 * @param {number} chosen the group that is looked at afterwards, by the number it has now
 */
export function makeEdits({ content, state, edits }, editsOf, chosen) {
  const { cut } = state.now;
  if (!cut || !content.tree) {
    edits.change((list) => [...list, ...editsOf((id) => id)]);
    return;
  }
  const nodes = readTree(content.tree).cut(cut);
  const ids = idsOfCut(content, nodes);
  const idOf = (/** @type {number} */ node) => ids.get(node) ?? -1;
  edits.change((list) => [...list, { kind: "cut", nodes }, ...editsOf(idOf)], {
    cut: 0,
    node: -1,
    group: idOf(chosen),
  });
}

// Return the tools of a group, and what was done with it.
/** @param {App} app @param {Group} group */
export function groupTools(app, group) {
  const { content, state, edits } = app;
  const { groups } = app.groups();
  const others = besides(groups, group).map(
    ({ id, name }) => /** @type {[string, string]} */ ([String(id), name()]),
  );
  const plan = edits.plan();
  const before = noteOf(content.edits?.notes.groups, group.whole);
  const note = (state.now.cut ? undefined : plan.notes.get(group.id)) ?? before ?? "";
  const act = (/** @type {(idOf: (id: number) => number) => Edit[]} */ editsOf) =>
    makeEdits(app, editsOf, group.id);
  // The name of a group of the model is its name at every number of groups.
  const named = group.whole >= 0 && plan.groups.some(({ id }) => id === group.whole);
  const rename = () =>
    ask("Rename the group", { text: group.name() }, (name) => {
      if (!name || name === group.name()) return;
      if (named)
        edits.change((list) => [
          ...list.filter((one) => one.kind !== "name" || one.group !== group.whole),
          ...(name === edits.original(group.whole)
            ? []
            : [/** @type {Edit} */ ({ kind: "name", group: group.whole, name })]),
        ]);
      else act((idOf) => [{ kind: "name", group: idOf(group.id), name }]);
    });
  const join = () =>
    ask("Merge with", { groups: besides(groups, group) }, (other) =>
      act((idOf) => [{ kind: "merge", groups: [idOf(group.id), idOf(Number(other))] }]),
    );
  const divide = () => act((idOf) => [{ kind: "split", group: idOf(group.id) }]);
  const annotate = () =>
    ask("Note on the group", { text: note, long: true }, (text) => {
      if (text && text !== note) act((idOf) => [{ kind: "note", group: idOf(group.id), text }]);
    });
  const whole = state.now.cut ? null : plan.groups.find(({ id }) => id === group.id);
  const splits = !whole || (whole.nodes.length === 1 && !whole.divided);
  return make(
    "div",
    {},
    rove(
      make(
        "div",
        { class: "group-tools" },
        ...present([
          others.length ? compareChoice(state, others) : null,
          tool("rename", "Give this group another name", rename),
          others.length ? tool("merge", "Make one group of this and another one", join) : null,
          splits ? tool("split", "Make two groups of this one", divide) : null,
          tool("note", "Write a note on this group", annotate),
        ]),
      ),
      "button",
    ),
    ...present([
      state.now.cut
        ? softLine(
            `These ${counted(groups.length, "group")} are of the tree: rename, merge, split or note makes them ` +
              "the groups of the run first.",
          )
        : null,
      ...editedLines(app, group),
      note ? make("p", { class: "edited" }, "Note: ", bdi(note)) : null,
    ]),
  );
}

// Return the other groups; of all groups those that are alike stand together: the nearest first.
/** @param {Group[]} groups @param {Group} group */
function besides(groups, group) {
  const away = (/** @type {Group} */ one) => Math.abs(groups.indexOf(one) - groups.indexOf(group));
  return groups.filter(({ id }) => id !== group.id).toSorted((a, b) => away(a) - away(b));
}

// Return what made a group, each line with its undo.
/** @param {App} app @param {Group} group */
function editedLines(app, { id, by }) {
  if (!by.length) return [];
  const list = app.edits.list();
  const { groups } = app.edits.plan();
  const divided = groups.find((one) => one.id === id)?.divided;
  return [
    make(
      "div",
      { class: "edited" },
      ...by.map((at) => make("p", {}, ...tellEdit(app, list[at]), ". ", undoButton(app, at))),
      softLine(
        divided ? "Its two parts are found when it is fitted again." : "Not fitted again yet.",
      ),
    ),
  ];
}

/** Return what takes back one edit. @param {App} app @param {number} at */
export function undoButton({ edits }, at) {
  const undo = () => edits.change((list) => list.filter((_, i) => i !== at));
  return textButton("undo", undo, { title: "Take back this edit" });
}

/** @param {App["state"]} state @param {[string, string][]} others */
function compareChoice(state, others) {
  const choices = /** @type {[string, string][]} */ ([["-1", "compare …"], ...others]);
  const choose = (/** @type {string} */ value) => state.set({ compared: Number(value) });
  const select = selectOf("compare", "Compare with another group", choices, choose);
  select.value = String(state.now.compared);
  return select;
}

/** @param {App} app @param {Documents} documents @param {number} i */
export function documentTools(app, documents, i) {
  const { content, edits } = app;
  const id = documents.id[i];
  const before = content.edits;
  const { groups, labels } = app.groups();
  const note = edits.plan().documentNotes.get(id) ?? noteOf(before?.notes.documents, id) ?? "";
  const wrong = edits.isMisplaced(id);
  const without = (/** @type {Edit["kind"]} */ kind) => (/** @type {Edit} */ one) =>
    one.kind !== kind || !("document" in one) || one.document !== id;
  const mark = () =>
    edits.change((list) => [
      ...list.filter(without("misplaced")),
      ...(wrong ? [] : [/** @type {Edit} */ ({ kind: "misplaced", document: id })]),
    ]);
  const annotate = () =>
    ask("Note on the document", { text: note, long: true }, (text) =>
      edits.change((list) => [
        ...list.filter(without("note document")),
        ...(text ? [/** @type {Edit} */ ({ kind: "note document", document: id, text })] : []),
      ]),
    );
  const others = groups.filter((one) => one.id !== labels[i]);
  /** @type {[string, string][]} */
  const choices = [
    ["", "move to …"],
    ...others.map((one) => /** @type {[string, string]} */ ([String(one.id), one.name()])),
  ];
  const move = (/** @type {string} */ to) =>
    makeEdits(
      app,
      (idOf) => [{ kind: "move", documents: [id], group: idOf(Number(to)) }],
      Number(to),
    );
  const at = edits.list().findLastIndex((one) => one.kind === "move" && one.documents.includes(id));
  return make(
    "div",
    {},
    make(
      "div",
      { class: "group-tools" },
      choices.length > 1 ? selectOf("move", "Move to another group", choices, move) : null,
      tool(wrong ? "not misplaced" : "misplaced", "It does not belong to this group", mark),
      tool("note", "Write a note on this document", annotate),
    ),
    at >= 0
      ? make("p", { class: "edited" }, "Moved here, not fitted again yet. ", undoButton(app, at))
      : null,
    wrong || before?.misplaced.includes(id)
      ? make("p", { class: "edited", text: "Marked as misplaced." })
      : null,
    note ? make("p", { class: "edited" }, "Note: ", bdi(note)) : null,
  );
}

// A question in a dialog: a text, or a choice of groups, where a click is the answer.

/** @typedef {{ text: string, long?: boolean } | { groups: Group[] }} Field */

/**
 * @param {string} title @param {Field} field
 * @param {(value: string) => void} onAnswer
 */
export function ask(title, field, onAnswer) {
  const dialog = find("ask");
  const form = find("ask-form");
  find("ask-title").textContent = title;
  const answer = (/** @type {string} */ value) => {
    dialog.close();
    onAnswer(value);
  };
  const cancel = make("button", { type: "button", text: "cancel" });
  cancel.addEventListener("click", () => dialog.close());
  form.onsubmit = (event) => event.preventDefault();
  if ("groups" in field) {
    const list = rove(
      make("div", { class: "asked" }, ...field.groups.map((one) => groupButton(one, answer))),
      "button",
    );
    form.replaceChildren(list, make("div", { class: "buttons" }, cancel));
    dialog.showModal();
    list.querySelector("button")?.focus();
    return;
  }
  const input = inputOf(field, title);
  const ok = make("button", { type: "submit", text: "ok" });
  form.replaceChildren(input, make("div", { class: "buttons" }, ok, cancel));
  form.onsubmit = (event) => {
    event.preventDefault();
    answer(input.value.trim());
  };
  dialog.showModal();
  input.focus();
  if (!field.long && "select" in input) input.select();
}

/** @param {Group} group @param {(value: string) => void} answer */
function groupButton({ id, colour, size, name }, answer) {
  const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
  swatch.style.background = seenColour(colour);
  return make(
    "button",
    { type: "button", "data-group": id, on: { click: () => answer(String(id)) } },
    swatch,
    bdi(name()),
    make("span", { class: "soft number", text: integer(Math.round(size)) }),
  );
}

/** @param {{ text: string, long?: boolean }} field @param {string} label */
function inputOf(field, label) {
  if (field.long) {
    const area = make("textarea", { rows: 4, "aria-label": label });
    area.value = field.text;
    return area;
  }
  const line = make("input", { type: "text", "aria-label": label, autocomplete: "off" });
  line.value = field.text;
  return line;
}
