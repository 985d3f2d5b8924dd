import assert from "node:assert/strict";
import { test } from "node:test";

import { markLegend, markText } from "../../../src/spheremix/report/page/marking.js";
import { createSteps } from "../../../src/spheremix/report/page/order.js";
import { smallContent } from "./small_content.mjs";
import { useStandIn } from "./stand_in.mjs";

useStandIn();

// Words: 0 common, 1 own of the first cluster, 2 of the second, 3 of the third, 4 of none.
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

test("words are marked by what they are to the cluster, and the text stays whole", () => {
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

test("the legend names the next-best cluster only where there is one", () => {
  assert.equal(markLegend(true).children.length, 4);
  assert.equal(markLegend(false).children.length, 3);
});
