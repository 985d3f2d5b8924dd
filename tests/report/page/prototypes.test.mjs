import assert from "node:assert/strict";
import { test } from "node:test";

import { createColumns } from "../../../src/spheremix/report/page/columns.js";
import { createSteps } from "../../../src/spheremix/report/page/order.js";
import { paintPrototypes } from "../../../src/spheremix/report/page/prototypes.js";
import { drawer, smallContent } from "./small_content.mjs";

// A palette that tells what was painted: the number of clusters, then the level.
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
  const rows = step.clusters.map((k, i) => ({ k, y: i, height: 1 }));
  paintPrototypes(context, { step, columns, rows, palette, scale: 1 });
  const pixels = new Uint32Array(image.data.buffer);
  return { step, line: (row) => [...pixels.subarray(row * width, (row + 1) * width)] };
}

test("a pixel for each word has its number of clusters and its level", () => {
  const { step, line } = painted(
    [
      [0.4, 0.1, 0],
      [0.2, 0, 0.3],
    ],
    3,
  );
  step.clusters.forEach((k, row) => {
    const wanted = [...step.order].map((j) => {
      const level = Math.abs(step.levels[3 * k + j]);
      return 1000 * step.counts[j] + level;
    });
    // A word that this cluster has not is ground, whatever others have.
    assert.deepEqual(line(row), wanted);
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
