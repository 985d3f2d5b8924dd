import assert from "node:assert/strict";
import { test } from "node:test";

import {
  createColumns,
  createRows,
  paintPrototypes,
  panBy,
  zoomBy,
  zoomTo,
} from "../../../../src/spheremix/report/page/words/pixels.js";
import { createSteps } from "../../../../src/spheremix/report/page/words/steps.js";
import { drawer, smallContent } from "../small_content.mjs";

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

test("rows fill the height in proportion to the groups, the small ones still seen", () => {
  const step = { groups: [2, 0, 1], entry: { sizes: [30, 0, 970] } };
  const rows = createRows(step, 38, 400);
  assert.deepEqual(
    rows.map(({ k }) => k),
    [2, 0, 1],
  );
  near(rows[2].y + rows[2].height, 438);
  rows.slice(1).forEach((row, i) => near(row.y, rows[i].y + rows[i].height));
  near(rows[1].height, 14);
  near(rows[2].height, 14);
  const equal = createRows({ groups: [0, 1], entry: { sizes: [1, 3] } }, 0, 400);
  near(equal[0].height, 100);
  const sizes = [1, ...new Array(99).fill(0)];
  const crowd = createRows({ groups: [...sizes.keys()], entry: { sizes } }, 0, 300);
  near(crowd[99].y + crowd[99].height, 300);
  near(crowd[99].height, 2.1);
});

// A palette that tells what was painted: twice the group, one more where the word is only here, then the level.
const palette = Uint32Array.from(
  { length: 128 * 8 },
  (_, i) => 1000 * Math.floor(i / 128) + (i % 128),
);

function painted(prototypes, width) {
  let image = null;
  globalThis.OffscreenCanvas = class {
    getContext() {
      return { putImageData: (data) => (image = data) };
    }
  };
  const context = {
    createImageData: (w, h) => ({ data: new Uint8ClampedArray(4 * w * h) }),
    drawImage() {},
  };
  const step = createSteps(smallContent(prototypes))(0);
  const columns = createColumns(step, [0, 1], 0, width);
  const rows = step.groups.map((k, i) => ({ k, y: i, height: 1 }));
  paintPrototypes(context, { step, columns, rows, palette, scale: 1 });
  const pixels = new Uint32Array(image.data.buffer);
  return { step, line: (row) => [...pixels.subarray(row * width, (row + 1) * width)] };
}

test("a pixel for each word has its group, whether it is only here, and its level", () => {
  const { step, line } = painted(
    [
      [0.4, 0.1, 0],
      [0.2, 0, 0.3],
    ],
    3,
  );
  step.groups.forEach((k, row) => {
    const wanted = [...step.order].map((j) => {
      const level = Math.abs(step.levels[3 * k + j]);
      return 1000 * (2 * k + Number(step.counts[j] === 1)) + level;
    });
    assert.deepEqual(line(row), wanted); // a word that this group has not is ground
  });
});

test("of several words on a pixel the heaviest is drawn", () => {
  const draw = drawer(5);
  const row = Array.from({ length: 40 }, () => 0.1 + draw());
  const { step, line } = painted([row], 10);
  for (let i = 0; i < 10; i++) {
    const here = [...step.order.slice(4 * i, 4 * i + 4)].map((j) => step.levels[j]);
    assert.equal(line(0)[i] % 1000, Math.max(...here));
  }
});

test("what is negative has stripes of ground", () => {
  const { step, line } = painted([[-1]], 12);
  assert.equal(step.levels[0], -127);
  assert.deepEqual(
    line(0),
    [1127, 1127, 1127, 1000, 1000, 1000, 1127, 1127, 1127, 1000, 1000, 1000],
  );
});
