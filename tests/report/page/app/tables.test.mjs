import assert from "node:assert/strict";
import { test } from "node:test";

import * as tables from "../../../../src/spheremix/report/page/app/tables.js";
import { linePath } from "../../../../src/spheremix/report/page/lib/drawing.js";
import { lowestOf } from "../../../../src/spheremix/report/page/tabs/numbers.js";
import { createSteps } from "../../../../src/spheremix/report/page/words/steps.js";
import { smallContent } from "../small_content.mjs";

function appOf(content, now = {}) {
  return {
    content,
    state: { now: { step: 0, document: -1, ...now } },
    stepOf: createSteps(content),
    edits: { nameInTables: (k) => `group ${k}` },
    groups: () => ({ exact: true }),
  };
}

function columnOf({ columns, rows }, name) {
  return rows.map((row) => row[columns.indexOf(name)]);
}

const prototypes = [
  [0.5, 0.1, 0],
  [0.2, 0, 0.9],
];

test("the table of groups counts all words of the model, shown or not", () => {
  const content = smallContent(prototypes, { weights: [0.3, 0.7] });
  content.steps[0].n_words = [500, 20];
  content.steps[0].n_only_here_words = [490, 10];
  const table = tables.groupTable(appOf(content));
  assert.deepEqual(columnOf(table, "group"), [1, 0]);
  assert.deepEqual(columnOf(table, "n_words"), [20, 500]);
  assert.deepEqual(columnOf(table, "n_only_here_words"), [10, 490]);
  assert.deepEqual(columnOf(table, "words"), ["word2 word0", "word0 word1"]);
  assert.deepEqual(columnOf(table, "only_here_words"), ["word2", "word1"]);
});

test("the table of words has a row for each word of each group", () => {
  const content = smallContent(prototypes, {
    exit_betas: Float32Array.of(3, 2, 0, 4, 0, Infinity),
  });
  const table = tables.wordTable(appOf(content));
  const scores = columnOf(table, "score");
  [0.5 ** 2.5 / 0.7, 0.1 ** 1.5, 0.9 ** 1.5, 0.2 ** 2.5 / 0.7].forEach((expected, i) =>
    assert.ok(Math.abs(scores[i] - expected) < 1e-7),
  );
  const without = table.rows.map((row) => row.filter((_, i) => i !== 3));
  assert.deepEqual(without, [
    [0, 1, "word0", 0.5, 3, 2],
    [0, 2, "word1", 0.1, 2, 1],
    [1, 1, "word2", 0.9, Infinity, 1],
    [1, 2, "word0", 0.2, 4, 2],
  ]);
});

test("the table of documents has those of the list, with their labels", () => {
  const content = smallContent(prototypes, { documents: 2 });
  content.labels = Uint8Array.of(1, 0);
  const documents = {
    id: ["a", "b"],
    title: ["A", ""],
    group: Uint16Array.of(1, 1),
    second_group: null,
    posterior: Float32Array.of(1, 0.75),
    margin: Float32Array.of(1, 0.5),
    log_odds: Float32Array.of(Infinity, 1),
    cosine: Float32Array.of(0.1, 0.2),
    date: null,
    labels: [[0, 1, 2], [2]],
    label_names: ["x", "y", "z"],
    label_columns: [
      { name: "topic", start: 0, stop: 2 },
      { name: "group", start: 2, stop: 3 },
    ],
  };
  const table = tables.documentTable(appOf(content), documents, [1, 0]);
  assert.deepEqual(table.rows, [
    ["b", "", 0, "group 0", "borderline", 1, null, 0.75, 0.5, 1, 0.2, null, "", "z"],
    ["a", "A", 1, "group 1", "clearly here", 1, null, 1, 1, Infinity, 0.1, null, "x; y", "z"],
  ]);
  assert.deepEqual(table.columns.slice(-2), ["topic", "group_input"]);
  // Where the slider of groups has moved, the groups that are shown are there too.
  const byId = new Map([[7, { name: () => "seven" }]]);
  const groups = () => ({ exact: false, labels: [7, 9], byId });
  const moved = tables.documentTable({ ...appOf(content), groups }, documents, [1, 0]);
  const at = moved.columns.indexOf("shown_group");
  assert.deepEqual(
    moved.rows.map((row) => row[at]),
    ["belongs nowhere", "seven"],
  );
});

test("a criterion that is not known of a candidate does not make it the lowest", () => {
  const candidates = [{ bic: 5 }, { bic: null }, { bic: 4 }].map((criteria) => ({ criteria }));
  assert.equal(lowestOf(candidates, "bic"), 4);
  assert.equal(lowestOf([{ criteria: { bic: null } }], "bic"), null);
});

test("a curve has a gap where there is no value, and what rises far above is cut off", () => {
  assert.equal(linePath([0, 0.5, 1], [1, null, 0], 10, 10, false), "M0.0,0.0M10.0,10.0");
  assert.equal(linePath([0, 0.5, 1], [0, 1, 2], 10, 10, false), "M0.0,10.0L5.0,5.0L10.0,0.0");
  assert.equal(linePath([0, 1], [null, null], 10, 10, true), "");
  const cut = linePath([0, 0.25, 0.5, 0.75, 1], [4, 2, 0, 4, 104], 10, 10, true);
  assert.equal(cut.split("L").at(-1), "10.0,-250.0");
});
