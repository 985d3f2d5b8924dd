import assert from "node:assert/strict";
import { test } from "node:test";

import {
  CLEAR,
  drawingOrder,
  FAINT,
  movePixels,
  paintPoints,
} from "../../../../src/spheremix/report/page/map/painter.js";
import {
  createIndex,
  createPoints,
  wholeView,
} from "../../../../src/spheremix/report/page/map/view.js";
import { drawer } from "../small_content.mjs";

const WIDTH = 90;
const HEIGHT = 60;
const draw = drawer(5);
const some = (n) => Array.from({ length: n }, () => Math.floor(65536 * draw()));
const points = createPoints(some(400), some(400));
const order = drawingOrder(createIndex(points).order, null);
const colours = Uint32Array.from({ length: 400 }, () => Math.floor(0xffffff * draw()));
const shown = { colours, ground: 0xf0f0f0, order, faint: FAINT, opacity: CLEAR, under: null };
const whole = wholeView(points, WIDTH, HEIGHT);

function paintedAt(view) {
  const pixels = new Int32Array(WIDTH * HEIGHT);
  paintPoints(pixels, WIDTH, HEIGHT, points, shown, view, 2.3, 1);
  return pixels;
}

for (const [right, down] of [
  [7, 0],
  [0, 9],
  [-13, 5],
  [21, -17],
  [-1, -1],
  [0, 0],
]) {
  test(`moved by ${right} and ${down} pixels, the map is as if painted there`, () => {
    const view = {
      ...whole,
      x: whole.x - right / whole.scale,
      y: whole.y + down / whole.scale,
    };
    const pixels = paintedAt(whole);
    const bare = movePixels(pixels, WIDTH, HEIGHT, right, down);
    const covered = bare.reduce(
      (sum, { left, top, right: end, bottom }) => sum + (end - left) * (bottom - top),
      0,
    );
    const kept = (WIDTH - Math.abs(right)) * (HEIGHT - Math.abs(down));
    assert.equal(covered, WIDTH * HEIGHT - kept); // no more is painted than has moved in
    for (const clip of bare)
      paintPoints(pixels, WIDTH, HEIGHT, points, shown, view, 2.3, 1, 1, clip);
    assert.deepEqual(pixels, paintedAt(view));
  });
}

test("what is outside of the clip stays as it is", () => {
  const pixels = new Int32Array(WIDTH * HEIGHT).fill(5);
  const clip = { left: 10, top: 20, right: 30, bottom: 25 };
  paintPoints(pixels, WIDTH, HEIGHT, points, shown, whole, 2.3, 1, 1, clip);
  const all = paintedAt(whole);
  pixels.forEach((pixel, at) => {
    const [column, row] = [at % WIDTH, Math.floor(at / WIDTH)];
    const inside = column >= 10 && column < 30 && row >= 20 && row < 25;
    assert.equal(pixel, inside ? all[at] : 5);
  });
});
