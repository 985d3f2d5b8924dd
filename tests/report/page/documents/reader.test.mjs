import assert from "node:assert/strict";
import { test } from "node:test";

import {
  contributionsOf,
  markLegend,
  markText,
} from "../../../../src/spheremix/report/page/documents/reader.js";
import { createSteps } from "../../../../src/spheremix/report/page/words/steps.js";
import { smallContent } from "../small_content.mjs";
import { useStandIn } from "../stand_in.mjs";

useStandIn();

// Words: 0 common, 1 own of the first group, 2 of the second, 3 of the third, 4 of none.
const step = createSteps(
  smallContent([
    [1, 1, 0, 0, 0],
    [1, 0, 1, 0, 0],
    [1, 0, 0, 1, 0],
  ]),
)(0);
const forms = new Map([
  ["people", 0],
  ["goals", 1],
  ["naïve", 1],
  ["bank", 2],
  ["film", 3],
  ["orphan", 4],
]);
const mark = (text, rival = 1) =>
  markText(forms, step, text, 0, rival).map((part) =>
    typeof part === "string" ? part : [part.attributes.class, part.textContent],
  );

test("words are marked by what they are to the group, and the text stays whole", () => {
  const text = "People, GOALS! bank film orphan unknown";
  assert.deepEqual(mark(text), [
    ["mark common", "People"],
    ", ",
    ["mark own", "GOALS"],
    "! ",
    ["mark rival", "bank"],
    " film orphan unknown",
  ]);
  assert.equal(
    markText(forms, step, text, 0, 1)
      .map((part) => part.textContent ?? part)
      .join(""),
    text,
  );
  assert.deepEqual(mark("bank", -1), ["bank"]);
  assert.deepEqual(mark(""), []);
});

test("decomposed letters are the same word", () => {
  assert.deepEqual(mark("nai\u0308ve"), [["mark own", "nai\u0308ve"]]);
});

test("the legend names the next-best group only where there is one", () => {
  assert.equal(markLegend(true).children.length, 4);
  assert.equal(markLegend(false).children.length, 3);
});

const prototypes = [
  [0.5, 0, 0.25, 0],
  [0.125, 0.5, 0, 0],
];
const scored = createSteps(smallContent(prototypes, { kappas: [8, 4] }))(0);
const rows = {
  indptr: Uint32Array.of(0, 1, 4),
  words: Uint16Array.of(3, 0, 1, 2),
  values: Uint16Array.of(65535, 65535, 13107, 26214),
  scale: Float32Array.of(1, 0.5),
  n_words: Uint32Array.of(1, 9),
};

test("words of neither group are left out; without a rival its terms are zero", () => {
  assert.deepEqual(contributionsOf(rows, scored, 0, 0, 1), []);
  const alone = contributionsOf(rows, scored, 1, 0, -1);
  assert.deepEqual(
    alone.map(({ j, other }) => [j, other]),
    [
      [0, 0],
      [2, 0],
    ],
  );
});

test("values without a scale are the coordinates themselves", () => {
  const plain = { ...rows, scale: null, values: Float32Array.of(0.5, -0.5, 0, 0) };
  const [term] = contributionsOf(plain, scored, 1, 0, -1);
  assert.deepEqual([term.j, term.x, term.own], [0, -0.5, -2]);
});
