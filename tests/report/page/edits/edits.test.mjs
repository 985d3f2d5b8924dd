import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { editCommand } from "../../../../src/spheremix/report/page/edits/dialog.js";
import { createEdits, noteOf } from "../../../../src/spheremix/report/page/edits/edits.js";
import { noEdits } from "../../../../src/spheremix/report/page/edits/plan.js";

const kept = new Map();
const PLACE = "spheremix edits of abc";

beforeEach(() => {
  kept.clear();
  globalThis.localStorage = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => kept.set(key, value),
    removeItem: (key) => kept.delete(key),
  };
});

function opened() {
  const content = {
    run: "abc",
    title: "news",
    corpus: { n_kept: 3 },
    model: { n_groups: 3 },
    names: ["a", "b", "c"],
    tree: null,
    documents: { id: ["d1", "d2", "__proto__"], leaf: null },
  };
  const told = [];
  return { content, told, edits: createEdits(content, (more) => told.push(more)) };
}

const name = (group, text) => ({ kind: "name", group, name: text });

test("edits are made one by one, survive a reload, and are taken back one by one", () => {
  const { content, edits, told } = opened();
  edits.change((list) => [...list, name(0, "sport"), { kind: "merge", groups: [0, 2] }]);
  edits.change((list) => [...list, { kind: "drop", word: "the" }], { cut: 0 });
  assert.deepEqual(told, [{}, { cut: 0 }]);
  assert.deepEqual(content.names, ["sport", "b", "sport"]); // merged groups have one name
  assert.ok(edits.isDropped("the"));
  const again = opened();
  assert.deepEqual(again.content.names, ["sport", "b", "sport"]);
  assert.deepEqual(again.edits.record(), edits.record());
  again.edits.change((list) => list.filter((_, at) => at !== 1));
  assert.deepEqual(again.content.names, ["sport", "b", "c"]);
  again.edits.clear();
  assert.deepEqual(again.content.names, ["a", "b", "c"]);
  assert.equal(kept.size, 0);
});

test("an edit of what another edit made goes with it", () => {
  const { edits } = opened();
  edits.change(() => [{ kind: "split", group: 1 }, name(9, "far")]);
  assert.deepEqual(edits.list(), [{ kind: "split", group: 1 }]);
});

test("a browser that keeps nothing, or something else, changes nothing", () => {
  globalThis.localStorage = {
    getItem: () => {
      throw new Error("refused");
    },
    setItem: () => {
      throw new Error("refused");
    },
  };
  const { content, edits } = opened();
  edits.change((list) => [...list, name(0, "sport")]);
  assert.equal(content.names[0], "sport");
});

const head = { format: "spheremix edits", version: 1 };
const damaged = [
  null,
  3,
  "edits",
  [],
  {},
  { ...head, version: 2, list: [name(0, "x")] },
  { ...head, format: "other", list: [name(0, "x")] },
  { ...head, list: { 0: name(0, "x") } },
];
const values = [null, 3, "x", true, {}, [], [1], [[1]], "__proto__", -1, 1.5, 9, "0"];
for (const kind of ["name", "merge", "split", "move", "drop", "note", "cut", "constructor", 4])
  for (const value of values)
    damaged.push({
      ...head,
      list: [
        value,
        { kind, group: value, groups: value, nodes: value, name: value, text: value },
        { kind, group: 1, documents: value, document: value, name: value, text: value },
      ].filter((one) => !(one?.kind === "split" && one.group === 1)),
    });

test("whatever a browser holds, the page opens: what is damaged is left out", () => {
  for (const found of damaged) {
    kept.set(PLACE, JSON.stringify(found));
    const { content, edits } = opened();
    assert.ok(content.names.every((one) => typeof one === "string" && one));
    assert.equal(content.names[0], "a", JSON.stringify(found));
    edits.record();
  }
  kept.set(PLACE, "{broken");
  assert.deepEqual(opened().edits.record(), noEdits("abc"));
});

test("what is sound of damaged edits stays, for groups and documents that there are", () => {
  const list = `[{"kind": "name", "group": 0, "name": "sport"}, {"kind": "name", "group": 7, "name": "far"},
    {"kind": "name", "group": "__proto__", "name": "x"}, {"kind": "merge", "groups": [0, 1]},
    {"kind": "merge", "groups": [1, 2]}, {"kind": "merge", "groups": [2, "x"]}, "x", null,
    {"kind": "split", "group": 2}, {"kind": "drop", "word": "the"}, {"kind": "drop", "word": 3},
    {"kind": "move", "documents": ["d2", "far"], "group": 2}, {"kind": "misplaced", "document": "far"},
    {"kind": "note", "group": 2, "text": "good"}, {"kind": "note", "group": 1, "text": "gone"},
    {"kind": "note document", "document": "__proto__", "text": "odd"}]`;
  kept.set(PLACE, `{"format": "spheremix edits", "version": 1, "list": ${list}}`);
  const record = opened().edits.record();
  const { documents } = record.notes;
  assert.deepEqual(Object.entries(documents), [["__proto__", "odd"]]);
  assert.deepEqual(
    { ...record, notes: { groups: record.notes.groups, documents: {} } },
    {
      ...noEdits("abc"),
      names: { 0: "sport" },
      merge: [[0, 1]],
      split: [2],
      move: { d2: 2 },
      drop_words: ["the"],
      notes: { groups: { 2: "good" }, documents: {} },
    },
  );
  assert.equal(noteOf(documents, "__proto__"), "odd");
  assert.equal(noteOf(documents, "constructor"), undefined);
});

test("the command has the folder of the page", () => {
  const at = (pathname, protocol = "file:") => editCommand({ protocol, pathname });
  assert.equal(at("/data/news/report.html"), "spheremix edit /data/news edits.json");
  assert.equal(at("/my%20run/it's/report.html"), "spheremix edit '/my run/it'\\''s' edits.json");
  assert.equal(at("/C:/my%20run/report.html"), 'spheremix edit "C:\\my run" edits.json');
  assert.equal(at("/data/copy.html"), "spheremix edit RUN edits.json");
  assert.equal(at("/report.html", "http:"), "spheremix edit RUN edits.json");
});
