import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import {
  checkedEdits,
  countEdits,
  createEdits,
  mergedName,
  mergeSets,
  noEdits,
  noteOf,
} from "../../../../src/spheremix/report/page/edits/edits.js";

const kept = new Map();

beforeEach(() => {
  kept.clear();
  globalThis.localStorage = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => kept.set(key, value),
    removeItem: (key) => kept.delete(key),
  };
});

function opened() {
  const content = { run: "abc", title: "news", corpus: { n_kept: 3 }, names: ["a", "b", "c"] };
  const state = { now: { edited: 0 }, set: (changes) => Object.assign(state.now, changes) };
  return { content, state, edits: createEdits(content, state) };
}

test("groups that are to be one have one name in tables: a new one, or all of their names", () => {
  const names = ["a", "b", "new", "d"];
  const record = { ...noEdits("abc"), merge: [[0, 2]] };
  assert.deepEqual(
    [0, 1, 2].map((k) => mergedName(record, names, k)),
    ["a + new", "b", "a + new"],
  );
  record.names = { 2: "new", 3: "d" };
  assert.deepEqual(
    [0, 1, 2, 3].map((k) => mergedName(record, names, k)),
    ["new", "b", "new", "d"],
  );
});

test("pairs with a group in common are one set", () => {
  assert.deepEqual(mergeSets([[1, 4]], 4, 2), [[1, 2, 4]]);
  assert.deepEqual(mergeSets([[1, 4]], 0, 2), [
    [1, 4],
    [0, 2],
  ]);
  assert.deepEqual(
    mergeSets(
      [
        [1, 4],
        [0, 2],
      ],
      0,
      1,
    ),
    [[0, 1, 2, 4]],
  );
});

test("a browser that keeps nothing, or something else, changes nothing", () => {
  kept.set("spheremix edits of abc", "{broken");
  assert.deepEqual(opened().edits.record(), noEdits("abc"));
  kept.set("spheremix edits of abc", '{"format": "other"}');
  assert.deepEqual(opened().edits.record(), noEdits("abc"));
  globalThis.localStorage = {
    getItem: () => {
      throw new Error("refused");
    },
    setItem: () => {
      throw new Error("refused");
    },
  };
  const { content, edits } = opened();
  edits.change((record) => (record.names[0] = "sport"));
  assert.equal(content.names[0], "sport");
});

const damaged = [
  null,
  3,
  "edits",
  [],
  {},
  { format: "spheremix edits", version: 2, names: { 0: "x" } },
  { format: "other", version: 1, names: { 0: "x" } },
];
const head = { format: "spheremix edits", version: 1 };
for (const value of [null, 3, "x", true, [1], [[1]], [[1, "2"]], [[0, 9]], [[1, 1]], { x: 1 }])
  for (const key of ["names", "merge", "split", "drop_words", "notes", "misplaced", "other"])
    damaged.push({ ...head, [key]: value });

test("whatever a browser holds, the page opens: what is damaged is left out", () => {
  for (const found of damaged) {
    kept.set("spheremix edits of abc", JSON.stringify(found));
    const { content, edits } = opened();
    assert.deepEqual(content.names, ["a", "b", "c"], JSON.stringify(found));
    const { split, drop_words: words, misplaced, ...rest } = edits.record();
    assert.deepEqual({ ...noEdits("abc"), ...rest }, noEdits("abc"), JSON.stringify(found));
    assert.ok([...words, ...misplaced].every((one) => typeof one === "string"));
    assert.ok(split.every((k) => k === 1)); // of [1], which is sound
    countEdits(edits.record());
  }
  kept.set("spheremix edits of abc", "{");
  assert.deepEqual(opened().edits.record(), noEdits("abc"));
});

test("what is sound of damaged edits stays, for groups that there are", () => {
  const found = checkedEdits(
    JSON.parse(`{ "format": "spheremix edits", "version": 1, "run": "other", "unknown": 1,
      "names": { "0": "sport", "1": null, "7": "far", "1.5": "x", "__proto__": "x", "-1": "x" },
      "merge": [[0, 1], [1, 2], [2, 9], "x"], "split": [2, 2, 1.5, null, "0"],
      "drop_words": ["the", 3], "misplaced": ["d1", {}],
      "notes": { "groups": { "2": "good", "x": "y" }, "documents": { "__proto__": "odd", "d": 1 } } }`),
    "abc",
    3,
  );
  assert.deepEqual(
    { ...found, notes: { ...found.notes, documents: Object.entries(found.notes.documents) } },
    {
      ...noEdits("abc"),
      names: { 0: "sport" },
      merge: [[0, 1]],
      split: [2],
      drop_words: ["the"],
      misplaced: ["d1"],
      notes: { groups: { 2: "good" }, documents: [["__proto__", "odd"]] },
    },
  );
  assert.equal(noteOf(found.notes.documents, "__proto__"), "odd");
  assert.equal(noteOf(found.notes.documents, "constructor"), undefined);
});
