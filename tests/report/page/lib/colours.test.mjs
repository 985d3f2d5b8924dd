import assert from "node:assert/strict";
import { test } from "node:test";

import {
  categoricalColours,
  createPalette,
  ends,
  groupPalette,
  oklch,
  scaleColour,
  seenHues,
  sequentialColours,
  sureColour,
} from "../../../../src/spheremix/report/page/lib/colours.js";

const grey = (value) => `#${value.toString(16).padStart(2, "0").repeat(3)}`;

test("level 0 is the ground, the largest level is the hue, in the bytes of an ImageData", () => {
  const palette = createPalette(["#808080", "#ff8000"], { ground: "#102030" });
  const bytes = (entry) => [...new Uint8Array(Uint32Array.of(entry).buffer)];
  assert.equal(palette.length, 256);
  assert.deepEqual(bytes(palette[128]), [0x10, 0x20, 0x30, 255]);
  assert.deepEqual(bytes(palette[255]), [0xff, 0x80, 0, 255]);
  const reds = [...palette.subarray(128)].map((entry) => bytes(entry)[0]);
  reds.slice(1).forEach((red, i) => assert.ok(red >= reds[i]));
  assert.ok(reds[1] > reds[0] + 20); // what is not zero is seen
});

test("hues are lightened on a dark ground until they are seen, whatever the ground", () => {
  assert.deepEqual(seenHues(["#123456"], { ground: "#ffffff" }), ["#123456"]);
  for (let value = 0; value < 256; value++) {
    const [seen] = seenHues(["#000000"], { ground: grey(value) });
    if (seen === "#000000") continue;
    const part = (hex) => (parseInt(hex.slice(1, 3), 16) / 255) ** 2.2 + 0.05;
    assert.ok(part(seen) / part(grey(value)) >= 4.5);
  }
});

const parts = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];
const luminance = (colour) => {
  const [red, green, blue] = parts(colour).map((part) => (part / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const contrast = (one, other) => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};

test("Oklab: white, black, grey and the red of a screen", () => {
  assert.equal(oklch(1, 0, 0), 0xffffff);
  assert.equal(oklch(0, 0, 0), 0x000000);
  const [red, green, blue] = parts(oklch(0.5, 0, 123));
  assert.ok(red === green && green === blue);
  const pure = parts(oklch(0.62796, 0.25768, 29.234)); // #ff0000
  [255, 0, 0].forEach((part, i) => assert.ok(Math.abs(pure[i] - part) <= 8, String(pure)));
});

test("groups have colours of their own that are seen on the ground", () => {
  for (const [dark, ground] of [
    [false, 0xffffff],
    [true, 0x14181c],
  ]) {
    const palette = groupPalette(24, dark);
    assert.equal(new Set(palette).size, 24);
    for (const colour of palette) assert.ok(contrast(colour, ground) >= 2, colour.toString(16));
    palette.slice(1).forEach((colour, i) => {
      const before = parts(palette[i]);
      const distance = Math.hypot(...parts(colour).map((part, j) => part - before[j]));
      assert.ok(distance > 60, "neighbours in the list differ");
    });
  }
});

test("the surer a document, the more its colour stands out from the ground, and the more blue it is", () => {
  for (const [dark, ground] of [
    [false, 0xffffff],
    [true, 0x14181c],
  ]) {
    const [clearly, probably] = ["clearly", "probably"].map((sure) => sureColour(sure, dark));
    assert.ok(contrast(clearly, ground) > 1.5 * contrast(probably, ground));
    const range = (colour) => Math.max(...parts(colour)) - Math.min(...parts(colour));
    // On a dark ground light colours look pale: there the less sure ones are nearly grey.
    assert.ok(range(clearly) > (dark ? 2 : 1) * range(probably));
  }
});

test("documents without a group or a value are grey", () => {
  const palette = groupPalette(2);
  const found = categoricalColours([1, 0, -1, 7], palette);
  assert.deepEqual([...found.slice(0, 2)], [palette[1], palette[0]]);
  assert.equal(found[2], found[3]);
  assert.ok(!palette.includes(found[2]));
  assert.equal(sequentialColours([NaN, 1])[0], found[2]);
});

test("a scale goes away from the ground, and has the ends of the values", () => {
  const values = [3, 1, 2, NaN, 5];
  assert.deepEqual(ends(values), [1, 5]);
  assert.deepEqual(ends([NaN]), [0, 1]);
  const found = sequentialColours(values);
  assert.equal(found[1], scaleColour(0));
  assert.equal(found[4], scaleColour(1));
  for (let i = 0; i < 10; i++) {
    assert.ok(luminance(scaleColour(i / 10)) > luminance(scaleColour((i + 1) / 10)));
    assert.ok(luminance(scaleColour(i / 10, true)) < luminance(scaleColour((i + 1) / 10, true)));
  }
  assert.equal(sequentialColours([4, 4])[0], scaleColour(0)); // all alike
});
