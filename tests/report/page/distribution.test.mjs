import assert from "node:assert/strict";
import { test } from "node:test";

import { countLabels, countPeriods } from "../../../src/spheremix/report/page/distribution.js";

test("labels are counted in the cluster and in all", () => {
  const labels = [[0], [0, 1], [], [1]];
  assert.deepEqual(countLabels(labels, 3, Uint8Array.of(1, 1, 1, 0), 1), {
    inside: [2, 1, 0],
    totals: [2, 2, 0],
    size: 3,
  });
});

test("months have no gaps, and documents without a date are counted apart", () => {
  const dates = ["2020-11-30", null, "2021-02-01T10:00", "2020-11-01", "no date"];
  assert.deepEqual(countPeriods(dates, Uint8Array.of(0, 0, 0, 1, 0), 0), {
    periods: ["2020-11", "2020-12", "2021-01", "2021-02"],
    inside: [1, 0, 0, 1],
    totals: [2, 0, 0, 1],
    undated: 2,
  });
});

test("long times are counted in years, and years may be early", () => {
  const { periods, totals } = countPeriods(["0998-05-01", "1003-06-01"], Uint8Array.of(0, 0), 0);
  assert.deepEqual(periods, ["0998", "0999", "1000", "1001", "1002", "1003"]);
  assert.deepEqual(totals, [1, 0, 0, 0, 0, 1]);
  assert.deepEqual(countPeriods([null], Uint8Array.of(0), 0).periods, []);
});
