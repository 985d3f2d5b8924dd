import assert from "node:assert/strict";
import { test } from "node:test";

import {
  countLabels,
  countPeriods,
  daysOf,
  labelOrder,
  shareBounds,
  sizesOf,
} from "../../../../src/spheremix/report/page/tabs/counts.js";

test("documents that were split count for their shares, not for the labels of their passages", () => {
  const passages = {
    document: Uint32Array.of(0, 0, 1),
    weight: Float32Array.of(0.25, 0.75, 1),
    n_documents: 3,
    n_grouped: 2,
    shares: Uint16Array.of(4000, 6000, 9000, 1000),
    labels: [[0], [1]],
    date: ["2001", "2002"],
  };
  const groups = Uint8Array.of(0, 1, 0);
  const documents = {
    ...{ passages, group: groups, date: ["2001", "2001", "2002"] },
    ...{ labels: [[0], [0], [1]], label_names: ["left", "right"] },
  };
  const rounded = (/** @type {Iterable<number>} */ values) =>
    [...values].map((one) => Number(one.toFixed(9)));
  const found = countLabels(documents, groups, [0, 1]);
  assert.deepEqual(rounded(found.counts[0]), [0.4, 0.9]);
  assert.deepEqual(rounded(found.totals), [1, 1]);
  assert.deepEqual(rounded(found.sizes), [1.3, 0.7]);
  const time = countPeriods(documents, groups, [0, 1]);
  assert.deepEqual(time.counts.map(rounded), [
    [0.4, 0.9],
    [0.6, 0.1],
  ]);
  assert.deepEqual(rounded(time.squares), [0.97, 0.37]);
});

test("shares have the intervals of tables/time.csv", () => {
  const rounded = (/** @type {[number, number][]} */ all) =>
    all.map((ends) => ends.map((one) => Number(one.toFixed(4))));
  // As scipy.stats.binomtest(5, 10).proportion_ci(method="wilson") has it.
  assert.deepEqual(rounded(shareBounds([5, 0], [10, 0], 5)), [
    [0.2366, 0.7634],
    [0, 0.9997],
  ]);
  // Ten documents of which each is half of the group differ by nothing.
  const [[low, high]] = shareBounds([5], [10], 2.5);
  assert.ok(0.5 - low < 0.01 && high - 0.5 < 0.01);
});

test("documents that belong nowhere count in no total", () => {
  const documents = { labels: [[0], [0], [1]], label_names: ["a", "b"] };
  const groups = Uint8Array.of(0, 2, 2);
  const labels = countLabels(documents, groups, [0, 2], 2);
  assert.deepEqual([...labels.totals], [1, 0]);
  assert.deepEqual([...labels.counts[1]], [1, 1]);
  const time = countPeriods({ date: ["2020-03-01", "2020-03-02", "2020-04-01"] }, groups, [0], 2);
  assert.deepEqual(time.totals, [1, 0]);
  assert.deepEqual(time.counts, [[1, 0]]);
});

test("the labels of a column are those between its ends, the most frequent first", () => {
  const inside = [5, 0, 2, 3, 3, 9];
  assert.deepEqual(labelOrder(inside, { start: 0, stop: 2 }), [0]);
  assert.deepEqual(labelOrder(inside, { start: 2, stop: 5 }), [3, 4, 2]);
  assert.deepEqual(labelOrder(inside, { start: 1, stop: 2 }), []);
});

test("months have no gaps, and documents without a date are counted apart", () => {
  const dates = ["2020-11-30", null, "2021-02-01T10:00", "2020-11-01", "no date"];
  assert.deepEqual(countPeriods({ date: dates }, Uint8Array.of(0, 0, 0, 1, 0), [0]), {
    periods: ["2020-11", "2020-12", "2021-01", "2021-02"],
    counts: [[1, 0, 0, 1]],
    totals: [2, 0, 0, 1],
    squares: Float64Array.of(2),
    undated: 2,
  });
});

test("long times are counted in years, and years may be early", () => {
  const { periods, totals } = countPeriods(
    { date: ["0998-05-01", "1018-06-01"] },
    Uint8Array.of(0, 0),
    [0],
  );
  assert.deepEqual(periods.slice(0, 3), ["0998", "0999", "1000"]);
  assert.equal(periods.length, 21);
  assert.deepEqual([totals[0], totals[1], totals[20]], [1, 0, 1]);
  const months = countPeriods(
    { date: ["2002-01-05", "2013-12-01"] },
    Uint8Array.of(0, 0),
    [0],
  ).periods;
  assert.equal(months.length, 144); // twelve years have months
  assert.deepEqual(countPeriods({ date: [null] }, Uint8Array.of(0), [0]).periods, []);
});

test("a month or a year has a first and a last day", () => {
  assert.deepEqual(daysOf("2020-02"), { from: "2020-02-01", to: "2020-02-29" });
  assert.deepEqual(daysOf("1900-02"), { from: "1900-02-01", to: "1900-02-28" });
  assert.deepEqual(daysOf("2020-12"), { from: "2020-12-01", to: "2020-12-31" });
  assert.deepEqual(daysOf("0998"), { from: "0998-01-01", to: "0998-12-31" });
});

test("years stay years, however few they are, and none of many is lost", () => {
  const found = countPeriods(
    { date: ["1990", "1992", "1992-05-01", null] },
    Uint8Array.of(0, 0, 1, 0),
    [0],
  );
  assert.deepEqual(found, {
    periods: ["1990", "1991", "1992"],
    counts: [[1, 0, 1]],
    totals: [1, 0, 2],
    squares: Float64Array.of(2),
    undated: 1,
  });
  const years = Array.from({ length: 231 }, (_, i) => String(1790 + i));
  const { periods, totals } = countPeriods({ date: years }, new Uint8Array(231), [0]);
  assert.deepEqual(periods, years);
  assert.ok(totals.every((n) => n === 1));
  assert.deepEqual(
    countPeriods({ date: ["1990-05", "1990-07"] }, Uint8Array.of(0, 0), [0]).periods,
    ["1990-05", "1990-06", "1990-07"],
  );
});

test("of a sample, all documents are counted, by strata that groups are made of", () => {
  const counted = {
    n_documents: 60,
    of: Uint16Array.of(0, 0, 1, 2),
    sizes: Float32Array.of(30, 20, 10),
    labels: {
      stratum: Uint16Array.of(0, 0, 1, 2),
      value: Uint32Array.of(0, 1, 1, 0),
      n: Float32Array.of(25, 5, 20, 10),
    },
    dates: {
      stratum: Uint16Array.of(0, 1, 2),
      value: Uint32Array.of(1, 2, 0),
      n: Float32Array.of(30, 20, 10),
      names: [null, "2020-01", "2020-03"],
    },
  };
  const documents = { labels: [[0], [1], [1], [0]], label_names: ["a", "b"], counted };
  const found = countLabels(documents, Uint8Array.of(0, 0, 0, 1), [0, 1]);
  assert.deepEqual([...found.counts[0]], [25, 25]);
  assert.deepEqual([...found.counts[1]], [10, 0]);
  assert.deepEqual([...found.totals], [35, 25]);
  assert.deepEqual([...found.sizes], [50, 10]);
  const time = countPeriods({ date: [], counted }, Uint8Array.of(0, 0, 0, 1), [0, 1], 1);
  assert.deepEqual(time, {
    periods: ["2020-01", "2020-02", "2020-03"],
    counts: [
      [30, 0, 20],
      [0, 0, 0],
    ],
    totals: [30, 0, 20],
    undated: 10,
  });
  assert.deepEqual(
    [...sizesOf(documents, Uint8Array.of(0, 0, 0, 1))],
    [
      [0, 50],
      [1, 10],
    ],
  );
  assert.deepEqual(
    [...sizesOf(null, Uint8Array.of(3, 3, 1))],
    [
      [3, 2],
      [1, 1],
    ],
  );
  // Groups that cut through a stratum have the share of its sample.
  const cut = countLabels(documents, Uint8Array.of(0, 1, 0, 1), [0, 1], 1);
  assert.deepEqual([...cut.counts[0]], [12.5, 22.5]);
  assert.deepEqual([...cut.totals], [12.5, 22.5]);
  assert.deepEqual([...cut.sizes], [35, 25]);
});
