import assert from "node:assert/strict";
import { test } from "node:test";

import { sureColour } from "../../../../src/spheremix/report/page/lib/colours.js";
import {
  colourings,
  createLasso,
  lassoLine,
  lassoText,
  partsOf,
} from "../../../../src/spheremix/report/page/map/tab.js";

const content = { model: { n_groups: 2 }, stability: null };
const documents = {
  id: ["a", "b", "c", "d"],
  log_odds: Float32Array.of(1, 3, 9, 2),
  group: Uint16Array.of(0, 0, 1, 2), // the last one belongs nowhere
  second_group: Uint16Array.of(1, 1, 0, 0),
  date: ["2020-01-01", null, "2020-01-03", "2020-01-02"],
  labels: [[0], [1], [0], []],
  label_names: ["sport", "film"],
  label_columns: [{ name: "desk", start: 0, stop: 2 }],
};
const found = (value, from = documents) =>
  colourings(content, from).find((one) => one.value === value);

test("the colours of how sure documents are have a legend with their words and numbers", () => {
  const { colours, legend } = found("sure");
  for (const dark of [false, true]) {
    const items = legend(dark);
    assert.deepEqual(
      items.map(({ text }) => text),
      ["borderline: 1", "belongs nowhere: 1", "probably here: 1", "clearly here: 1"],
    );
    const places = [0, 3, 1, 2];
    items.forEach(({ colour }, n) => assert.equal(colours(dark)[places[n]], colour));
    assert.equal(new Set(items.map(({ colour }) => colour)).size, 4);
  }
});

test("what no document is has no line, and one group has no colours of this kind", () => {
  const sure = { ...documents, log_odds: Float32Array.of(9, 9, 9, 9) };
  const told = found("sure", sure).legend(false);
  assert.deepEqual(
    told.map(({ text }) => text),
    ["belongs nowhere: 1", "clearly here: 3"],
  );
  assert.equal(told[1].colour, sureColour("clearly"));
  assert.equal(found("sure", { ...documents, second_group: null }), undefined);
});

test("labels and dates have legends, and so have documents without one", () => {
  const labels = found("label 0");
  assert.deepEqual(
    labels.legend(false).map(({ text }) => text),
    ["sport: 2", "film: 1", "no label: 1"],
  );
  const shown = Array.from(labels.colours(false));
  const [sport, film, none] = labels.legend(false).map(({ colour }) => colour);
  assert.deepEqual(shown, [sport, film, sport, none]);
  const days = found("date");
  assert.deepEqual(
    days.legend(true).map(({ text }) => text),
    ["2020-01-01", "2020-01-02", "2020-01-03", "no date: 1"],
  );
  const [first, middle, last, without] = days.legend(true).map(({ colour }) => colour);
  const colours = Array.from(days.colours(true));
  assert.deepEqual([colours[0], colours[1], colours[2]], [first, without, last]);
  assert.notEqual(middle, first);
  assert.equal(found("date", { ...documents, date: [null, null, null, null] }), undefined);
});

test("a line that was drawn is a part of the address, and holds the same documents", () => {
  const layout = { x: [10_000, 30_000, 60_000], y: [10_000, 30_000, 60_000] };
  const line = [
    [-0.5, 0.1],
    [0.6, 0.1],
    [0.6, 0.6],
    [0.1, 0.6],
  ];
  const state = { now: { lasso: lassoText(line) } };
  const back = lassoLine(state.now.lasso);
  assert.deepEqual(back[0], [-0.2, lassoLine(lassoText(line))[0][1]]); // as far as places go
  back
    .slice(1)
    .forEach((corner, i) =>
      corner.forEach((value, d) => assert.ok(Math.abs(value - line[i + 1][d]) < 1e-4)),
    );
  const lasso = createLasso({ layout }, state);
  assert.deepEqual([0, 1, 2].map(lasso.has()), [true, true, false]);
  state.now.lasso = "";
  assert.equal(lasso.has(), null);
  assert.equal(lassoText(line.slice(0, 2)), ""); // no area
  const many = Array.from({ length: 1000 }, (_, i) => [Math.cos(i), Math.sin(i)]);
  assert.ok(lassoLine(lassoText(many)).length <= 48);
});

test("parts of groups have names for those who are twice as near at twice as many groups", () => {
  // Leaves 0 to 3; 4 is 0 and 1, 5 is 2 and 3, the groups are 4 and 5.
  const tree = {
    leaves: 4,
    parents: [4, 4, 5, 5, 6, 6, -1],
    names: ["a", "b", "c", "d", "ab", "cd", "all"],
    sibling_words: [["own", "words", "more"], [], [], [], [], [], []],
    is_chosen: [false, false, false, false, true, true, false],
    sizes: [3, 3, 3, 1, 6, 4, 10],
  };
  const leaf = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3];
  const groups = [
    { id: 0, size: 6 },
    { id: 1, size: 4 },
  ];
  const labels = leaf.map((one) => Number(one > 1));
  const byId = new Map(groups.map((group) => [group.id, group]));
  const parts = partsOf({ tree, documents: { leaf } }, { groups, labels, byId });
  assert.deepEqual(
    parts.map(({ text, group, from, ids }) => [text, group.id, from, ids.length]),
    [
      ["own words", 0, 2, 3],
      ["b", 0, 2, 3],
      ["c", 1, 1.5, 3],
    ],
  ); // the last leaf has too few documents
  assert.deepEqual(partsOf({ tree: null, documents: { leaf } }, { groups, labels, byId }), []);
});
