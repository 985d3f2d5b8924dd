import assert from "node:assert/strict";
import { test } from "node:test";

import {
  beside,
  numberLines,
  whyText,
} from "../../../../src/spheremix/report/page/documents/verdict.js";
import {
  agreementPercent,
  borderlineReason,
  borderlineText,
  certaintyOf,
  certaintyText,
  levelOf,
  marksLines,
  secondText,
  ofSamples,
  samenessWord,
  share,
  sureText,
  wordStability,
} from "../../../../src/spheremix/report/page/groups/certainty.js";

const documents = {
  log_odds: Float32Array.of(1, 3, 5, Infinity),
  second_group: Uint16Array.of(1, 1, 1, 1),
  group: Uint16Array.of(0, 0, 0, 0),
};
const model = { n_groups: 2 };

test("without stability the odds decide: below 9 to 1 it is borderline", () => {
  const content = { names: ["sport", "film"], model };
  const told = [0, 1, 2, 3].map((i) => certaintyText(content, documents, i));
  assert.deepEqual(told, ["borderline with film", "probably here", "clearly here", "clearly here"]);
});

test("the other group that a document may belong to is named", () => {
  const content = { names: ["sport", "film"], model };
  const told = [0, 1, 2].map((i) => secondText(content, documents, i));
  assert.deepEqual(told, ["or film", "second: film", "second: film"]);
  assert.equal(secondText(content, { ...documents, second_group: null }, 2), "");
});

test("stability decides where it was measured, whatever the odds", () => {
  const content = {
    names: ["sport", "film"],
    stability: { documents: Float32Array.of(1, 0.9, 0.7, 0.3) },
  };
  const told = [0, 1, 2, 3].map((i) => certaintyOf(content, documents, i));
  assert.deepEqual(told, ["clearly", "clearly", "probably", "borderline"]);
});

test("the list says how many documents not to rely on, and where they are", () => {
  const placed = { log_odds: Float32Array.of(1, 2, 5, 1), group: Uint16Array.of(0, 0, 0, 2) };
  const told = (...items) => borderlineText({ model }, placed, items, true);
  assert.equal(
    told(0, 1, 2, 3),
    "2 of 3 documents here are borderline: do not rely on their group. The least sure come first.",
  );
  assert.equal(
    borderlineText({ model }, placed, [0, 1], false),
    "All 2 documents here are borderline: do not rely on their group.",
  );
  assert.equal(told(0), "The one document here is borderline: do not rely on its group.");
  assert.equal(
    told(1, 2),
    "1 of 2 documents here is borderline: do not rely on its group. The least sure come first.",
  );
  assert.equal(told(2), "No document here is borderline.");
  assert.equal(told(3, 2), "No document here is borderline. The least sure come first.");
  assert.equal(told(3), "");
});

test("one group has no other to be borderline with", () => {
  const alone = {
    log_odds: Float32Array.of(Infinity),
    second_group: null,
    group: Uint16Array.of(0),
  };
  const content = { names: ["all"], model: { n_groups: 1 } };
  assert.equal(certaintyText(content, alone, 0), "clearly here");
});

test("numbers between 0 and 1 have words", () => {
  assert.equal(ofSamples(0.85, 20), "17 of 20 redrawn samples");
  assert.equal(ofSamples(0, 20), "none of the 20 redrawn samples");
  assert.deepEqual([0.748, 1, 0, -0.02].map(agreementPercent), ["74 %", "100 %", "0 %", "−2 %"]);
  assert.deepEqual([0.95, 0.8, 0.65, 0.1].map(samenessWord), [
    "the same groups",
    "mostly the same groups",
    "partly the same groups",
    "other groups",
  ]);
  assert.deepEqual([0.964, 0.999, 1, 0, -0.02].map(share), [".96", "1.00", "1.00", ".00", "−0.02"]);
});

test("stability of words is known for those that were looked for", () => {
  const words = {
    ends: Uint32Array.of(0, 2, 3),
    places: Uint32Array.of(4, 7, 4),
    shares: Float32Array.of(0.5, 1, 0.25),
  };
  const content = { stability: { words } };
  assert.equal(wordStability(content, 0, 7), 1);
  assert.equal(wordStability(content, 1, 4), 0.25);
  assert.equal(wordStability(content, 1, 7), null);
  assert.equal(wordStability({}, 0, 4), null);
});

// Two groups; redrawn samples were looked at. What belongs nowhere has the number 2.
const measured = {
  names: ["sport", "film"],
  model,
  stability: {
    documents: Float32Array.of(1, 0.35, 0.4, 0.8, 0.9),
    groups: [0.9, 0.3],
    n_replicates: 20,
  },
};
const several = {
  log_odds: Float32Array.of(1, 8.39, 1, 3, 0),
  second_group: Uint16Array.of(1, 1, 0, 1, 0),
  group: Uint16Array.of(0, 0, 1, 0, 2),
  posterior: Float32Array.of(0.7, 1, 0.7, 0.95, 0.1),
  margin: Float32Array.of(0.4, 1, 0.4, 0.9, 0.1),
  cosine: Float32Array.of(0.5, 0.4, 0.3, 0.6, 0.1),
};

test("a borderline document says what makes it so", () => {
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((i) => sureText(measured, several, i, false)),
    [
      "clearly here",
      "borderline (7 of 20)",
      "borderline (8 of 20)",
      "clearly here",
      "belongs nowhere",
    ],
  );
  // Where all that is listed is borderline, this is not said again in each row.
  assert.deepEqual(
    [1, 2].map((i) => sureText(measured, several, i, true)),
    ["7 of 20 samples", "8 of 20 samples"],
  );
  assert.equal(sureText({ ...measured, stability: null }, several, 0, true), "2.7 to 1");
  const reasons = [0, 1, 2, 3].map((i) => borderlineReason(measured, several, i));
  assert.equal(reasons[0], "");
  assert.equal(reasons[1], "it is in its group in only 7 of 20 redrawn samples");
  const close = "in this fit the odds for its group are only 2.7 to 1";
  assert.equal(reasons[2], `${close}, and it is in its group in only 8 of 20 redrawn samples`);
  assert.equal(borderlineReason({ ...measured, stability: null }, several, 0), close);
  assert.equal(reasons[3], "");
});

test("large odds beside a borderline document are said to be those of one fit", () => {
  const why = whyText(measured, several, 1);
  assert.equal(
    why,
    "In this fit the document clearly belongs here. But in only 7 of 20 redrawn samples its group " +
      "came back with this document in it.",
  );
  assert.doesNotMatch(why, /to 1/u); // the odds do not decide here, and are among the numbers
  const [samples, fit, terms] = numberLines(measured, several, 1);
  assert.match(
    samples,
    /7 of 20 redrawn samples\. Fewer than 10: borderline\. 15 or more: clearly here\.$/u,
  );
  assert.match(
    fit,
    /^This fit alone: odds of 4,400 to 1 .* larger than those of all other documents\./u,
  );
  assert.match(fit, /They do not decide/u);
  assert.match(terms, /log-odds 8\.39, posterior > 0\.999, margin 1\.000/u);
});

test("close odds, a group that is not stable, and documents that are sure have sentences of their own", () => {
  assert.match(
    whyText(measured, several, 2),
    /^In this fit “sport” suits it nearly as well: the odds are 2\.7 to 1\./u,
  );
  assert.match(
    whyText(measured, several, 2),
    /seldom in it \(1 of 1 in fewer than half of the samples\)/u,
  );
  assert.doesNotMatch(whyText(measured, several, 1), /seldom/u); // 1 of 3 of its group only
  assert.doesNotMatch(whyText(measured, several, 3), /only|seldom|In this fit/u);
  const fair = { ...several, log_odds: Float32Array.of(1, 3, 1, 3, 0) };
  assert.match(
    whyText(measured, fair, 1),
    /^In this fit the document probably belongs here\. But/u,
  );
  assert.equal(whyText(measured, several, 4), "");
  const lost = numberLines(measured, several, 4);
  assert.deepEqual(lost, [
    "Stability: it belongs nowhere in 18 of 20 redrawn samples.",
    "Likeness: cosine 0.100 with the nearest prototype.",
  ]);
  const plain = numberLines({ ...measured, stability: null }, several, 3);
  assert.match(plain[0], /Below 9 to 1: borderline\. 99 to 1 or more: clearly here\.$/u);
  assert.match(plain.at(-1), /larger than those of all other documents of its group/u);
});

test("a value is told beside those of the others, in words where it is at the end", () => {
  const values = Array.from({ length: 201 }, (_, i) => i);
  const told = (i, all = values) => beside(all, i, () => true);
  assert.equal(told(0), "smaller than those of all other");
  assert.equal(told(1), "smaller than those of nearly all other");
  assert.equal(told(50), "smaller than those of 75 % of the other");
  assert.equal(told(150), "larger than those of 75 % of the other");
  assert.equal(told(199), "larger than those of nearly all other");
  assert.equal(told(200), "larger than those of all other");
  assert.equal(told(0, [7, 7, 7]), "the same as those of all other");
  assert.equal(told(3, [1, 9, 9, 9]), "larger than those of 33 % of the other"); // equals apart
  assert.equal(
    beside([1, 5, 9], 1, (other) => other === 0),
    "larger than those of all other",
  );
  assert.equal(told(0, [7]), "with no other");
});

test("a group is stable, in doubt or weak, and the number that is shown never says otherwise", () => {
  const values = [0, 0.4999, 0.5, 0.7499, 0.75, 1];
  assert.deepEqual(values.map(levelOf), ["weak", "weak", "fair", "fair", "stable", "stable"]);
  assert.deepEqual(values.map(agreementPercent), ["0 %", "49 %", "50 %", "74 %", "75 %", "100 %"]);
  assert.equal(agreementPercent(0.29), "29 %"); // 28.999… in binary numbers
});

test("what the marks of groups in doubt mean is said where there are any", () => {
  const marks = (...values) => marksLines(values.map((stability) => ({ stability })));
  assert.deepEqual(marks(0.9, null), []);
  assert.deepEqual(marks(0.9, 0.5), ["? stability below 75 %: look twice"]);
});
