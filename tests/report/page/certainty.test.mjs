import assert from "node:assert/strict";
import { test } from "node:test";

import {
  borderlineText,
  certaintyOf,
  certaintyText,
  nextText,
  ofSamples,
  share,
  samenessWord,
  wordFirmness,
} from "../../../src/spheremix/report/page/certainty.js";

import { placing } from "../../../src/spheremix/report/page/verdict.js";

const documents = {
  log_odds: Float32Array.of(1, 3, 5, Infinity),
  runner_up: Uint16Array.of(1, 1, 1, 1),
  cluster: Uint16Array.of(0, 0, 0, 0),
};
const model = { n_clusters: 2 };

test("without firmness the odds decide: below 9 to 1 it is borderline", () => {
  const content = { names: ["sport", "film"], model };
  const told = [0, 1, 2, 3].map((i) => certaintyText(content, documents, i));
  assert.deepEqual(told, ["borderline with film", "probably here", "clearly here", "clearly here"]);
});

test("the next-best group is named where the phrase does not name it", () => {
  const content = { names: ["sport", "film"], model };
  const told = [0, 1, 2].map((i) => nextText(content, documents, i));
  assert.deepEqual(told, ["", "next: film", "next: film"]);
  assert.equal(nextText(content, { ...documents, runner_up: null }, 2), "");
});

test("a document that is clearly in its group is not said to be hard to place", () => {
  const odds = Float32Array.from({ length: 101 }, (_, i) => 5 + i);
  const told = (i, from = odds) => placing({ firmness: null }, { log_odds: from }, i);
  assert.equal(told(1), "clearly here, though less so than 99 % of the others");
  assert.equal(told(100), "easier to place than 99.0 % of all documents");
  assert.equal(told(0, odds.with(0, 1)), "among the 1 % hardest to place");
});

test("firmness decides where it was measured, but no even odds are clear", () => {
  const content = {
    names: ["sport", "film"],
    firmness: { documents: Float32Array.of(1, 0.9, 0.7, 0.3) },
  };
  const told = [0, 1, 2, 3].map((i) => certaintyOf(content, documents, i));
  assert.deepEqual(told, ["borderline", "clearly", "probably", "borderline"]);
});

test("the list says how many documents not to rely on, and where they are", () => {
  const placed = { log_odds: Float32Array.of(1, 2, 5, 1), cluster: Uint16Array.of(0, 0, 0, 2) };
  const told = (...items) => borderlineText({ model }, placed, items);
  assert.equal(
    told(0, 1, 2, 3), // the last one belongs nowhere, and may stand before others
    "2 of 3 documents here are borderline: do not rely on their group.",
  );
  assert.equal(
    told(1, 2),
    "1 of 2 documents here is borderline: do not rely on its group. It comes first.",
  );
  assert.equal(
    told(0, 1, 2),
    "2 of 3 documents here are borderline: do not rely on their group. They come first.",
  );
  assert.equal(told(2), "No document here is borderline: the least clear come first.");
  assert.equal(told(3, 2), "No document here is borderline.");
  assert.equal(told(3), "");
});

test("one group has no other to be borderline with", () => {
  const alone = {
    log_odds: Float32Array.of(Infinity),
    runner_up: null,
    cluster: Uint16Array.of(0),
  };
  const content = { names: ["all"], model: { n_clusters: 1 } };
  assert.equal(certaintyText(content, alone, 0), "clearly here");
});

test("numbers between 0 and 1 have words", () => {
  assert.equal(ofSamples(0.85, 20), "17 of 20 redrawn samples");
  assert.deepEqual([0.95, 0.8, 0.65, 0.1].map(samenessWord), [
    "the same groups",
    "mostly the same groups",
    "partly the same groups",
    "other groups",
  ]);
  assert.deepEqual([0.964, 0.999, 1, 0, -0.02].map(share), [".96", "1.00", "1.00", ".00", "−0.02"]);
});

test("firmness of words is known for those that were looked for", () => {
  const words = {
    ends: Uint32Array.of(0, 2, 3),
    places: Uint32Array.of(4, 7, 4),
    shares: Float32Array.of(0.5, 1, 0.25),
  };
  const content = { firmness: { words } };
  assert.equal(wordFirmness(content, 0, 7), 1);
  assert.equal(wordFirmness(content, 1, 4), 0.25);
  assert.equal(wordFirmness(content, 1, 7), null);
  assert.equal(wordFirmness({}, 0, 4), null);
});
