import assert from "node:assert/strict";
import { test } from "node:test";

import { createPalette, seenHues } from "../../../src/spheremix/report/page/colours.js";

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
