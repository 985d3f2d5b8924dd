import assert from "node:assert/strict";
import { test } from "node:test";

import {
  createColumns,
  createRows,
  panBy,
  zoomBy,
  zoomTo,
} from "../../../src/spheremix/report/page/columns.js";

const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} and ${b}`);

test("pixels of a place lead back to it, and all columns fill the width", () => {
  for (const [active, W] of [
    [100, 100],
    [20, 100],
    [0, 50],
    [3, 10_000],
  ]) {
    for (const zoom of [
      [0, 1],
      [0.2, 0.3],
    ]) {
      const columns = createColumns({ active, W }, zoom, 96, 800);
      for (const place of [0, 1.5, active, (active + W) / 2, W]) {
        near(columns.place(columns.x(place)), place);
      }
      near(columns.share(W), 1);
      assert.equal(columns.right, 896);
    }
    const whole = createColumns({ active, W }, [0, 1], 96, 800);
    near(whole.x(0), 96);
    near(whole.x(W), 896);
    if (active && active < W) assert.ok(whole.x(W) - whole.x(active) <= 0.12 * 800 + 1e-6);
  }
});

test("a zoom stays within the map and shows at least 12 columns", () => {
  const step = { W: 1200 };
  assert.deepEqual(zoomTo(-0.5, 0.5, step), [0, 1]);
  assert.deepEqual(zoomTo(0.5, 0.5, step), [0.495, 0.505]);
  assert.deepEqual(zoomTo(0.999, 1.2, step), [0.799, 1]);
  assert.deepEqual(zoomTo(0.4, 0.6, { W: 5 }), [0, 1]);
});

test("zooming keeps what is under the pointer, and panning keeps the width", () => {
  const step = { W: 1200 };
  const [from, to] = zoomBy([0.2, 0.6], 2, 0.25, step);
  near(to - from, 0.2);
  near(from + 0.25 * (to - from), 0.3);
  assert.deepEqual(zoomBy([0.2, 0.6], 0.1, 0.25, step), [0, 1]);
  assert.deepEqual(panBy([0.2, 0.6], 0.5), [0.4, 0.8]);
  assert.deepEqual(panBy([0.2, 0.6], 9), [0.6, 1]);
  assert.deepEqual(panBy([0.2, 0.6], -9), [0, 0.4]);
});

test("rows fill the height in proportion to the clusters, the small ones still seen", () => {
  const step = { clusters: [2, 0, 1], entry: { sizes: [30, 0, 970] } };
  const rows = createRows(step, 38, 400);
  assert.deepEqual(
    rows.map(({ k }) => k),
    [2, 0, 1],
  );
  near(rows[2].y + rows[2].height, 438);
  rows.slice(1).forEach((row, i) => near(row.y, rows[i].y + rows[i].height));
  near(rows[1].height, 14);
  near(rows[2].height, 14);
  const equal = createRows({ clusters: [0, 1], entry: { sizes: [1, 3] } }, 0, 400);
  near(equal[0].height, 100);
  const sizes = [1, ...new Array(99).fill(0)];
  const crowd = createRows({ clusters: [...sizes.keys()], entry: { sizes } }, 0, 300);
  near(crowd[99].y + crowd[99].height, 300);
  near(crowd[99].height, 2.1);
});
