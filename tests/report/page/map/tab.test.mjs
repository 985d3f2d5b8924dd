import assert from "node:assert/strict";
import { test } from "node:test";

import { sureColour } from "../../../../src/spheremix/report/page/lib/colours.js";
import { colourings } from "../../../../src/spheremix/report/page/map/tab.js";

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
