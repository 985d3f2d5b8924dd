import assert from "node:assert/strict";
import { test } from "node:test";

import * as format from "../../../../src/spheremix/report/page/lib/format.js";

const { counted, decimal, integer, oddsText, percent, posteriorText, signed } = format;

test("numbers have three digits, a true minus and no sign at zero", () => {
  assert.equal(integer(1234567.6), "1,234,568");
  assert.equal(decimal(0.123456), "0.123");
  assert.equal(decimal(12345.6), "12,346");
  assert.equal(decimal(-2.5), "−2.5");
  assert.equal(decimal(0.00001234), "1.2e−5");
  assert.equal(decimal(-0.00001234), "−1.2e−5");
  assert.equal(decimal(0), "0");
  assert.equal(decimal(-0), "0");
  assert.equal(signed(-0), "0");
  assert.equal(signed(1.5), "+1.5");
});

test("what is no finite number is told apart", () => {
  assert.deepEqual([null, undefined, NaN].map(decimal), ["–", "–", "–"]);
  assert.deepEqual([Infinity, -Infinity].map(decimal), ["∞", "−∞"]);
});

test("a share that is rounded never becomes all or nothing", () => {
  const shares = [0, 0.0001, 0.0004, 0.005, 0.5, 0.994, 0.9951, 0.9994, 0.9999, 1];
  assert.deepEqual(shares.map(percent), [
    "0 %",
    "< 0.1 %",
    "< 0.1 %",
    "0.5 %",
    "50 %",
    "99.4 %",
    "99.5 %",
    "99.9 %",
    "> 99.9 %",
    "100 %",
  ]);
});

test("one thing has no plural", () => {
  assert.equal(counted(1, "word"), "1 word");
  assert.equal(counted(0, "word"), "0 words");
  assert.equal(counted(2500, "word"), "2,500 words");
});

test("odds and posteriors of long documents stay readable", () => {
  assert.equal(oddsText(Math.log(3)), "3.0 to 1");
  assert.equal(oddsText(Math.log(1234)), "1,200 to 1");
  assert.equal(oddsText(Infinity), "more than a million to 1");
  assert.equal(posteriorText(0.25), "0.250");
  assert.equal(posteriorText(0.9994), "0.999");
  assert.equal(posteriorText(1), "> 0.999");
});

test("the page says how many of the words it shows, where it does not show all", () => {
  const content = { kind: "words", model: { n_words: 10_448, n_words_shown: 10_000 } };
  assert.equal(format.shownOfAll(content), "10,000 of 10,448 words");
  content.model.n_words_shown = 10_448;
  assert.equal(format.shownOfAll(content), "");
});

test("columns are called what they are", () => {
  const dense = { kind: "coordinates", steps: [{ beta: 0 }] };
  assert.equal(format.nounOf(dense), "coordinate");
  assert.equal(format.isDense(dense), true);
  assert.equal(format.isDense({ ...dense, steps: [{ beta: 0 }, { beta: 2 }] }), false);
  assert.equal(format.isDense({ ...dense, kind: "words" }), false);
  assert.equal(format.atThisBeta(dense), "");
  assert.equal(format.atThisBeta({ steps: [{}, {}] }), " at this number of words");
  assert.deepEqual(["bic", "ricc"].map(format.criterionName), ["BIC", "RICc"]);
  assert.equal(format.capital("words"), "Words");
});
