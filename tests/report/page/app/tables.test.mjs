import assert from "node:assert/strict";
import { test } from "node:test";

import { documentTable } from "../../../../src/spheremix/report/page/app/tables.js";
import { createSteps } from "../../../../src/spheremix/report/page/words/steps.js";
import { smallContent } from "../small_content.mjs";

function appOf(content) {
  return {
    content,
    state: { now: { step: 0, document: -1 } },
    stepOf: createSteps(content),
    edits: { nameInTables: (k) => `group ${k}` },
    groups: () => ({ exact: true }),
  };
}

const prototypes = [
  [0.5, 0.1, 0],
  [0.2, 0, 0.9],
];

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
  const table = documentTable(appOf(content), documents, [1, 0]);
  assert.deepEqual(table.rows, [
    ["b", "", 0, "group 0", "borderline", 1, null, 0.75, 0.5, 1, 0.2, null, "", "z"],
    ["a", "A", 1, "group 1", "clearly here", 1, null, 1, 1, Infinity, 0.1, null, "x; y", "z"],
  ]);
  assert.deepEqual(table.columns.slice(-2), ["topic", "group_input"]);
  // Where the slider of groups has moved, the groups that are shown are there too.
  const byId = new Map([[7, { name: () => "seven" }]]);
  const groups = () => ({ exact: false, labels: [7, 9], byId });
  const moved = documentTable({ ...appOf(content), groups }, documents, [1, 0]);
  const at = moved.columns.indexOf("shown_group");
  assert.deepEqual(
    moved.rows.map((row) => row[at]),
    ["belongs nowhere", "seven"],
  );
});
