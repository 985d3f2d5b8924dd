import assert from "node:assert/strict";
import { test } from "node:test";

import {
  addRing,
  groupContours,
  strengthOf,
  trace,
} from "../../../../src/spheremix/report/page/map/contours.js";
import { drawer } from "../small_content.mjs";

// The area by Gauss's formula: what is inside lies at the left, so it is negative where y goes down.
function area(ring) {
  let sum = 0;
  for (let i = 0; i < ring.length; i += 2) {
    const [x, y, right, down] = [0, 1, 2, 3].map((k) => ring[(i + k) % ring.length]);
    sum += x * down - right * y;
  }
  return sum / 2;
}

// Whether a ray to the right crosses the rings an odd number of times.
function isInside(rings, x, y) {
  let inside = false;
  for (const ring of rings)
    for (let i = 0; i < ring.length; i += 2) {
      const [x1, y1, x2, y2] = [0, 1, 2, 3].map((k) => ring[(i + k) % ring.length]);
      if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
    }
  return inside;
}

const field = (n, value) =>
  Float32Array.from({ length: n * n }, (_, i) => value(i % n, (i / n) | 0));
const SIDE = 65535;

test("the line of a cone is a circle: its area and its distance are those of geometry", () => {
  const cone = field(41, (x, y) => 20 - Math.hypot(x - 20, y - 20));
  const rings = trace(cone, 41, 41, 8);
  assert.equal(rings.length, 1);
  const [ring] = rings;
  assert.ok(Math.abs(Math.abs(area(ring)) - Math.PI * 144) < 0.02 * Math.PI * 144);
  for (let i = 0; i < ring.length; i += 2)
    assert.ok(Math.abs(Math.hypot(ring[i] - 20, ring[i + 1] - 20) - 12) < 0.1);
});

test("islands and lakes have lines of their own, in opposite directions", () => {
  const torus = field(41, (x, y) => 5 - Math.abs(Math.hypot(x - 20, y - 20) - 12));
  const areas = trace(torus, 41, 41, 2).map(area);
  assert.equal(areas.length, 2);
  assert.ok(areas[0] * areas[1] < 0);
  const two = field(41, (x, y) =>
    Math.max(6 - Math.hypot(x - 9, y - 9), 6 - Math.hypot(x - 30, y - 30)),
  );
  const islands = trace(two, 41, 41, 2).map(area);
  assert.equal(islands.length, 2);
  assert.ok(islands[0] * islands[1] > 0);
  // Corners that touch: all lines are closed, whichever way they go.
  const board = field(12, (x, y) => Number((x + y) % 2 === 0 && x % 11 > 0 && y % 11 > 0));
  for (const ring of trace(board, 12, 12, 0.5)) assert.ok(ring.length >= 8);
  assert.deepEqual(
    trace(
      field(5, () => 0),
      5,
      5,
      1,
    ),
    [],
  );
});

test("the outer line holds most documents of a group, the inner one half", () => {
  const draw = drawer(3);
  const normal = () => Math.sqrt(-2 * Math.log(draw() || 0.5)) * Math.cos(2 * Math.PI * draw());
  const n = 4000;
  const x = Uint16Array.from({ length: n }, () => Math.round(SIDE * (0.5 + 0.1 * normal())));
  const y = Uint16Array.from({ length: n }, () => Math.round(SIDE * (0.4 + 0.1 * normal())));
  const [outer, inner] = groupContours({ x, y }, new Int32Array(n), 1)[0];
  for (const [rings, share] of [
    [outer, 0.88],
    [inner, 0.5],
  ]) {
    let inside = 0;
    for (let i = 0; i < n; i++) inside += Number(isInside(rings, x[i] / 65536, y[i] / 65536));
    assert.ok(Math.abs(inside / n - share) < 0.03, `${inside / n} ${share}`);
  }
});

test("single documents far away and groups of two have no line; others are closed at the edge", () => {
  const x = Uint16Array.from([...Array(30).fill(20_000), 60_000, 5_000, 5_001]);
  const y = Uint16Array.from([...Array(30).fill(20_000), 60_000, 5_000, 5_001]);
  const groups = [...Array(31).fill(0), 1, 1];
  const [first, second] = groupContours({ x, y }, groups, 2);
  assert.deepEqual(second, []);
  assert.deepEqual(
    first.map((rings) => rings.length),
    [1, 1],
  );
  assert.ok(isInside(first[0], 20_000 / 65536, 20_000 / 65536));
  assert.ok(!isInside(first[0], 60_000 / 65536, 60_000 / 65536));
  const corner = Uint16Array.from(Array(20).fill(0));
  const [[rings]] = groupContours({ x: corner, y: corner }, new Int32Array(20), 1);
  assert.equal(rings.length, 1);
  assert.ok(rings[0].some((value) => value < 0)); // beyond the last cell
});

test("a rounded line goes through the middles of its sides, and ends where it began", () => {
  const steps = [];
  addRing(
    {
      moveTo: (...to) => steps.push(["M", ...to]),
      quadraticCurveTo: (...to) => steps.push(["Q", ...to]),
      closePath: () => steps.push(["Z"]),
    },
    [0, 0, 2, 0, 2, 2, 0, 2],
    (x, y) => [10 * x, -10 * y],
  );
  assert.deepEqual(steps, [
    ["M", 10, -0],
    ["Q", 20, -0, 20, -10],
    ["Q", 20, -20, 10, -20],
    ["Q", 0, -20, 0, -10],
    ["Q", 0, -0, 10, -0],
    ["Z"],
  ]);
});

test("a group stands out once it is chosen, and the others recede", () => {
  assert.equal(strengthOf({ group: 3 }, null), "plain");
  assert.equal(strengthOf({ group: 3 }, new Set([3])), "strong");
  assert.equal(strengthOf({ group: 3 }, new Set([4])), "weak");
});

test("groups that stay as they are keep their lines, and only these", () => {
  const spread = (i) => 20000 + ((i * 7919) % 20000);
  const ids = Array.from({ length: 90 }, (_, i) => i);
  const layout = { x: ids.map(spread), y: ids.map((i) => spread(3 * i + 1)) };
  const three = ids.map((i) => i % 3);
  const two = three.map((k) => Math.min(k, 1));
  const before = groupContours(layout, three, 3);
  const after = groupContours(layout, two, 2);
  assert.equal(after[0], before[0]);
  const fresh = groupContours({ ...layout }, two, 2);
  assert.notEqual(fresh[0], after[0]);
  assert.deepEqual(fresh, after);
  // One document more, or another one, and the lines are others.
  const moved = two.map((k, i) => (i === 45 ? 1 : k));
  assert.deepEqual(groupContours(layout, moved, 2), groupContours({ ...layout }, moved, 2));
  const swapped = two.map((k, i) => (i === 45 ? 1 : i === 46 ? 0 : k));
  groupContours(layout, two, 2);
  assert.deepEqual(groupContours(layout, swapped, 2), groupContours({ ...layout }, swapped, 2));
});
