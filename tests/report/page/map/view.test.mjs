import assert from "node:assert/strict";
import { test } from "node:test";

import {
  groupLabels,
  labelAt,
  leaderOf,
  placeLabels,
} from "../../../../src/spheremix/report/page/map/labels.js";
import {
  drawingOrder,
  FAINT,
  FULL,
  paintPoints,
  PALE,
  pixelOf,
} from "../../../../src/spheremix/report/page/map/painter.js";
import {
  createIndex,
  createPoints,
  movedView,
  nearestPoint,
  pointRadius,
  pointsInside,
  resizedView,
  toMap,
  toScreen,
  viewOf,
  viewText,
  wholeView,
  zoomedView,
} from "../../../../src/spheremix/report/page/map/view.js";

// Numbers that look random and are the same everywhere.
function scattered(n, seed = 1) {
  let state = seed;
  return Float64Array.from({ length: n }, () => {
    state = (state * 48271) % 2147483647;
    return Math.floor((state / 2147483647) * 65536);
  });
}
const cloud = (n) => createPoints(scattered(n, 1), scattered(n, 2));
const near = (one, other, off = 1e-6) => assert.ok(Math.abs(one - other) <= off, `${one} ${other}`);
const everyone = () => true;

test("the whole view shows all points, y upwards, with equal axes", () => {
  const points = createPoints([0, 65535, 0], [0, 65535, 65535]);
  const view = wholeView(points, 900, 500);
  const corners = [0, 1, 2].map((i) => toScreen(view, points.x[i], points.y[i]));
  for (const [left, top] of corners) {
    assert.ok(left >= 0 && left <= 900 && top >= 0 && top <= 500);
  }
  assert.ok(corners[0][1] > corners[1][1]); // bottom, top
  assert.ok(corners[0][0] < corners[1][0]);
  for (const [width, height] of [
    [900, 500],
    [500, 900],
  ]) {
    const square = wholeView(points, width, height);
    const [[left, bottom], [right, top]] = [0, 1].map((i) =>
      toScreen(square, points.x[i], points.y[i]),
    );
    near(right - left, bottom - top, 1e-3);
    assert.ok(right - left > 0.85 * Math.min(width, height)); // all the room there is
  }
});

test("pixels and places of the map are each other's inverse, after moves and zooms", () => {
  let view = wholeView(cloud(50), 640, 480);
  view = zoomedView(movedView(view, 33, -12), 3, 100, 50);
  const [x, y] = toMap(view, 123, 321);
  const [left, top] = toScreen(view, x, y);
  near(left, 123);
  near(top, 321);
});

test("zooming keeps what is under the pointer, and has ends", () => {
  const view = wholeView(cloud(50), 640, 480);
  const place = toMap(view, 200, 300);
  const [left, top] = toScreen(zoomedView(view, 2, 200, 300), ...place);
  near(left, 200);
  near(top, 300);
  assert.equal(zoomedView(view, 1e9).scale, view.whole * 60);
  assert.equal(zoomedView(view, 1e-9).scale, view.whole * 0.5);
});

test("a resized canvas shows the same part", () => {
  const points = cloud(50);
  const view = zoomedView(wholeView(points, 600, 600), 4, 100, 100);
  const smaller = resizedView(view, wholeView(points, 300, 300));
  near(smaller.scale / smaller.whole, 4);
  near(smaller.x, view.x);
  assert.equal(smaller.width, 300);
});

test("points are smaller where there are many, and larger when they are looked at closely", () => {
  const view = wholeView(cloud(9), 800, 600);
  assert.ok(pointRadius(view, 100) > pointRadius(view, 100_000));
  assert.ok(pointRadius({ ...view, scale: 9 * view.whole }, 100_000) > pointRadius(view, 100_000));
});

test("the nearest point is the one that all distances say", () => {
  const points = cloud(3000);
  const index = createIndex(points);
  const view = zoomedView(wholeView(points, 700, 500), 2.5, 150, 400);
  const counts = (i) => i % 3 !== 0;
  for (const pixel of [
    [10, 10],
    [350, 250],
    [640, 77],
    [-5, 480],
  ]) {
    let best = -1;
    let least = 20 ** 2;
    for (let i = 0; i < points.n; i++) {
      const [left, top] = toScreen(view, points.x[i], points.y[i]);
      const distance = (left - pixel[0]) ** 2 + (top - pixel[1]) ** 2;
      if (counts(i) && distance < least) [best, least] = [i, distance];
    }
    assert.equal(nearestPoint(index, points, view, pixel, 20, counts), best);
  }
});

test("the index holds every point once", () => {
  const { order } = createIndex(cloud(500));
  assert.deepEqual(
    [...order].sort((a, b) => a - b),
    [...Array(500).keys()],
  );
});

test("a lasso holds the points inside it, also where it goes in", () => {
  const layout = {
    x: [10_000, 30_000, 50_000, 30_000],
    y: [10_000, 10_000, 10_000, 40_000],
  };
  const notched = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0.46, 0.05],
    [0, 1],
  ];
  assert.deepEqual([...pointsInside(notched, layout)], [1, 0, 1, 0]);
  assert.deepEqual([...pointsInside(notched.slice(0, 2), layout)], [0, 0, 0, 0]);
});

test("an address has the part of the map that is seen, and nothing for all of it", () => {
  const points = cloud(100);
  const whole = wholeView(points, 600, 400);
  assert.equal(viewText(whole, whole), "");
  assert.deepEqual(viewOf("", whole), whole);
  const moved = movedView(zoomedView(whole, 3), 40, -25);
  const text = viewText(moved, whole);
  const found = viewOf(text, whole);
  for (const key of ["x", "y"]) near(found[key], moved[key], 1e-4);
  near(found.scale / moved.scale, 1, 0.01);
  assert.equal(viewText(found, whole), text);
  assert.ok(viewOf("0.5,0.5,99.00", whole).scale <= 60 * whole.scale); // no nearer than by hand
});

test("one point and none are maps too", () => {
  for (const n of [0, 1]) {
    const points = cloud(n);
    const view = wholeView(points, 300, 200);
    assert.ok(Number.isFinite(view.scale) && Number.isFinite(view.x));
    const found = nearestPoint(createIndex(points), points, view, [150, 100], 1e5, everyone);
    assert.equal(found, n - 1);
  }
});

function painted(points, shown, view, radius = 3) {
  const pixels = new Int32Array(view.width * view.height);
  const { order: all } = createIndex(points);
  const order = drawingOrder(all, shown.highlighted ?? null);
  const given = {
    opacity: FULL,
    under: null,
    ground: 0xffffff,
    faint: FAINT,
    ...shown,
    order,
  };
  paintPoints(pixels, view.width, view.height, points, given, view, radius, 1);
  return (left, top) => pixels[Math.floor(top) * view.width + Math.floor(left)];
}

test("a point has its colour in its place, and the ground is elsewhere", () => {
  const points = createPoints([20_000, 50_000], [20_000, 50_000]);
  const view = wholeView(points, 200, 100);
  const colours = Uint32Array.of(0xff8000, 0x0000ff);
  const at = painted(points, { colours }, view);
  for (const i of [0, 1]) {
    const [left, top] = toScreen(view, points.x[i], points.y[i]);
    assert.equal(at(left, top), pixelOf(colours[i]));
  }
  assert.equal(at(0, 0), pixelOf(0xffffff));
  assert.equal(pixelOf(0x102030) >>> 0, 0xff302010);
});

test("faded points are pale and below the others", () => {
  const points = createPoints([30_000, 30_000, 60_000], [30_000, 30_000, 30_000]);
  const view = wholeView(points, 200, 100);
  const colours = Uint32Array.of(0xff0000, 0x00ff00, 0x0000ff);
  const [left, top] = toScreen(view, points.x[0], points.y[0]);
  const [right, level] = toScreen(view, points.x[2], points.y[2]);
  const shown = { colours, highlighted: Uint8Array.of(1, 0, 0) };
  const at = painted(points, shown, view);
  assert.equal(at(left, top), pixelOf(0xff0000)); // although it comes before the green one
  const pale = at(right, level);
  assert.ok((pale & 0xff) > 0xc0 && (pale & 0xff) < 0xff, pale.toString(16)); // a pale blue
  const other = painted(points, { ...shown, faint: PALE }, view)(right, level);
  assert.ok((other & 0xff) < (pale & 0xff) && (other & 0xff) > 0x60, other.toString(16));
});

test("points at the edge are cut, not wrapped to the other side", () => {
  const points = createPoints([0], [32_768]);
  const view = { x: 0, y: 0.5, scale: 50, whole: 50, width: 40, height: 40 };
  const moved = { ...view, x: 0.4 }; // the point stands at the left edge
  const at = painted(points, { colours: Uint32Array.of(0) }, moved);
  assert.equal(at(0, 20), pixelOf(0));
  for (let top = 0; top < 40; top++) assert.equal(at(39, top), pixelOf(0xffffff));
});

test("points are translucent: what lies below is seen, and where there are two it is darker", () => {
  const points = createPoints([20_000, 50_000, 50_000], [20_000, 50_000, 50_000]);
  const view = wholeView(points, 200, 100);
  const colours = new Uint32Array(3);
  const under = new Int32Array(200 * 100).fill(pixelOf(0xff0000));
  const at = painted(points, { colours, opacity: FULL / 2, under }, view);
  const red = (i) => at(...toScreen(view, points.x[i], points.y[i])) & 0xff;
  near(red(0), 0x80, 2);
  near(red(1), 0x40, 2);
  assert.equal(at(0, 0), pixelOf(0xff0000));
});

test("names do not cover each other, and the largest groups have theirs", () => {
  const labels = Array.from(scattered(60, 5), (x, i) => ({
    x,
    y: scattered(60, 7)[i],
    text: `group number ${i}`,
    weight: 60 - i,
  }));
  const view = wholeView(cloud(50), 500, 400);
  const controls = [{ left: 180, top: 120, width: 150, height: 90 }];
  const measure = (text, size) => 0.55 * size * text.length;
  const placed = placeLabels(labels, view, measure, controls);
  assert.ok(placed.length > 5 && placed.length < 60);
  assert.ok(placed.some(leaderOf));
  assert.ok(placed.some(({ text }) => text === "group number 0"));
  placed.forEach((one, i) => {
    assert.ok(one.left >= 0 && one.left + one.width <= 500 && one.top >= 0);
    for (const other of [...placed.slice(i + 1), ...controls]) {
      const apart =
        one.left + one.width <= other.left ||
        other.left + other.width <= one.left ||
        one.top + one.height <= other.top ||
        other.top + other.height <= one.top;
      assert.ok(apart, `${one.text} covers ${other.text}`);
    }
    // Nor does the line of one name go through another.
    const [x0, y0, x1, y1] = leaderOf(one) ?? [0, 0, 0, 0];
    for (const t of leaderOf(one) ? Array.from({ length: 101 }, (_, at) => at / 100) : []) {
      const through = labelAt(placed, x0 + t * (x1 - x0), y0 + t * (y1 - y0));
      assert.ok(!through || through === one, `the line of ${one.text} strikes ${through?.text}`);
    }
    assert.equal(labelAt(placed, one.left + one.width / 2, one.top + 1), one);
  });
  assert.ok(placed[0].size > 1.2 * placed.at(-1).size);
  assert.equal(labelAt(placed, 200, 150), undefined);
});

test("a group in two parts has its name at the larger one; empty groups have none", () => {
  const x = [...Array(6).fill(10_000), ...Array(5).fill(60_000), 3];
  const y = x.map(() => 30_000);
  const found = groupLabels({ x, y }, [...Array(11).fill(1), -1], ["none", "two parts"]);
  assert.equal(found.length, 1);
  assert.equal(found[0].text, "two parts");
  assert.equal(found[0].weight, 11);
  near(found[0].x, 10_000, 100);
});

test("a group whose middle is below another name is named in smaller letters beside it", () => {
  const view = wholeView(cloud(50), 500, 400);
  const [x, y] = [30_000, 30_000];
  const measure = (text, size) => 0.55 * size * text.length;
  // Around the two groups nothing may be written, but for one line.
  const [, top] = toScreen(view, x / 65535, y / 65535);
  const controls = [
    { left: 0, top: top + 15, width: 500, height: 200 },
    { left: 0, top: top - 300, width: 500, height: 285 },
  ];
  const spots = { xs: [x, 55_000], ys: [y, 30_000] };
  const [first, second] = placeLabels(
    [
      { x, y, text: "the larger group", weight: 9 },
      { x, y, text: "small", weight: 1, spots },
    ],
    view,
    measure,
    controls,
  );
  assert.equal(first.text, "the larger group");
  assert.equal(second?.text, "small");
  assert.ok(second.anchor[0] > first.left + first.width);
});
