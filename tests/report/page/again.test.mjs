import assert from "node:assert/strict";
import { test } from "node:test";

import {
  againPercent,
  againSentence,
  againText,
  levelOf,
  marksLines,
} from "../../../src/spheremix/report/page/again.js";

test("a group is firm, in doubt or weak, and the number that is shown never says otherwise", () => {
  const values = [0, 0.4999, 0.5, 0.7499, 0.75, 1];
  assert.deepEqual(values.map(levelOf), ["weak", "weak", "fair", "fair", "firm", "firm"]);
  assert.deepEqual(values.map(againPercent), ["0 %", "49 %", "50 %", "74 %", "75 %", "100 %"]);
  assert.equal(againPercent(0.29), "29 %"); // 28.999… in binary numbers
});

test("the list of groups marks those in doubt, and says what the marks mean if there are any", () => {
  assert.deepEqual([0.31, 0.5, 0.97].map(againText), [
    "! 31 % of it found again",
    "? 50 % of it found again",
    "97 % of it found again",
  ]);
  const marks = (...values) => marksLines(values.map((firmness) => ({ firmness })));
  assert.deepEqual(marks(0.9, null), []);
  assert.deepEqual(marks(0.9, 0.5), ["? below 75 % found again: look twice"]);
  assert.deepEqual(marks(0.3, 0.5), [
    "! below 50 % found again: do not rely on it",
    "? below 75 % found again: look twice",
  ]);
});

test("the card of a group says how far to rely on it, and by which rule", () => {
  const said = (value) => againSentence({ firmness: { n_replicates: 20 } }, value);
  assert.equal(
    said(0.31),
    "! Only 31 % of this group is found again in 20 redrawn samples: do not rely on it (below 50 %).",
  );
  assert.match(said(0.5), /^\? 50 % of this group .*: look twice before .* \(below 75 %\)\.$/u);
  assert.match(said(0.97), /^97 % of this group .*: it is firm\.$/u);
});
