import assert from "node:assert/strict";
import { test } from "node:test";

import {
  categoricalColours,
  createPalette,
  ends,
  groupColour,
  groupPalette,
  labelPalette,
  oklch,
  paletteIndex,
  scaleColour,
  sequentialColours,
  sureColour,
} from "../../../../src/spheremix/report/page/lib/colours.js";

test("level 0 is the ground; words that are only here are solid, others paler than all of them", () => {
  const palette = createPalette(["#808080", "#ff8000"], { ground: "#102030" });
  const bytes = (entry) => [...new Uint8Array(Uint32Array.of(entry).buffer)];
  assert.equal(palette.length, 512);
  for (const own of [0, 1])
    assert.deepEqual(bytes(palette[paletteIndex(1, own, 0)]), [0x10, 0x20, 0x30, 255]);
  assert.deepEqual(bytes(palette[paletteIndex(1, 1, 127)]), [0xff, 0x80, 0, 255]);
  const reds = (own) =>
    Array.from({ length: 127 }, (_, i) => bytes(palette[paletteIndex(1, own, i + 1)])[0]);
  for (const own of [0, 1])
    reds(own)
      .slice(1)
      .forEach((red, i) => assert.ok(red >= reds(own)[i]));
  assert.ok(reds(0)[0] > 0x10 + 20); // what is not zero is seen
  assert.ok(Math.max(...reds(0)) < Math.min(...reds(1)));
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

// Colours as people with a colour blindness see them: Machado, Oliveira and Fernandes (2009), all of it.
const SEEN = {
  everyone: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [
    0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998,
  ],
  deuteranopia: [
    0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881,
  ],
  tritanopia: [
    1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039,
  ],
};
const times = (matrix, [x, y, z]) =>
  [0, 3, 6].map((i) => matrix[i] * x + matrix[i + 1] * y + matrix[i + 2] * z);

// CIELAB of a colour, with the white of a screen.
function lab(colour, eyes) {
  const linear = parts(colour).map((part) =>
    part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
  );
  const light = times(eyes, linear).map((part) => Math.min(1, Math.max(0, part)));
  const xyz = [
    0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522, 0.072175, 0.0193339, 0.119192, 0.9503041,
  ];
  const white = [0.95047, 1, 1.08883];
  const [x, y, z] = times(xyz, light).map((part, i) => {
    const share = part / white[i];
    return share > 0.008856 ? Math.cbrt(share) : 7.787 * share + 16 / 116;
  });
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

// The difference of two colours that is called CIEDE2000.
function difference([L1, a1, b1], [L2, a2, b2]) {
  const turn = Math.PI / 180;
  const seventh = (value) => Math.sqrt(value ** 7 / (value ** 7 + 25 ** 7));
  const G = 0.5 * (1 - seventh((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2));
  const [x1, x2] = [a1 * (1 + G), a2 * (1 + G)];
  const [C1, C2] = [Math.hypot(x1, b1), Math.hypot(x2, b2)];
  const hueOf = (b, x) => (Math.atan2(b, x) / turn + 360) % 360;
  const [h1, h2] = [hueOf(b1, x1), hueOf(b2, x2)];
  let apart = h2 - h1;
  if (apart > 180) apart -= 360;
  if (apart < -180) apart += 360;
  let h = (h1 + h2) / 2;
  if (Math.abs(h1 - h2) > 180) h += h1 + h2 < 360 ? 180 : -180;
  const [L, C] = [(L1 + L2) / 2, (C1 + C2) / 2];
  const cos = (degrees) => Math.cos(degrees * turn);
  const T =
    1 - 0.17 * cos(h - 30) + 0.24 * cos(2 * h) + 0.32 * cos(3 * h + 6) - 0.2 * cos(4 * h - 63);
  const dL = (L2 - L1) / (1 + (0.015 * (L - 50) ** 2) / Math.sqrt(20 + (L - 50) ** 2));
  const dC = (C2 - C1) / (1 + 0.045 * C);
  const dH = (2 * Math.sqrt(C1 * C2) * Math.sin((apart / 2) * turn)) / (1 + 0.015 * C * T);
  const R = -2 * seventh(C) * Math.sin(60 * Math.exp(-(((h - 275) / 25) ** 2)) * turn);
  return Math.sqrt(dL ** 2 + dC ** 2 + dH ** 2 + R * dC * dH);
}

test("the difference is that of the pairs of Sharma, Wu and Dalal (2005)", () => {
  for (const [one, other, value] of [
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
    [[50, -1.1848, -84.8006], [50, 0, -82.7485], 1.0],
    [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
    [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
  ])
    assert.ok(Math.abs(difference(one, other) - value) < 1e-4, String(value));
});

test("the first twelve groups differ by 9 or more, whatever kind of colours one sees", () => {
  for (const dark of [false, true])
    for (const [who, eyes] of Object.entries(SEEN)) {
      const colours = [...groupPalette(12, dark)].map((colour) => lab(colour, eyes));
      const all = colours.flatMap((one, i) =>
        colours.slice(i + 1).map((other) => difference(one, other)),
      );
      assert.ok(Math.min(...all) >= 9, `${who} ${dark}: ${Math.min(...all)}`);
    }
});

test("labels differ by 9 or more, from each other and from the first twelve groups", () => {
  for (const dark of [false, true]) {
    const seen = (palette, eyes) => [...palette].map((colour) => lab(colour, eyes));
    for (const [who, eyes] of Object.entries(SEEN)) {
      const colours = seen(labelPalette(8, dark), eyes);
      const all = colours.flatMap((one, i) =>
        colours.slice(i + 1).map((other) => difference(one, other)),
      );
      assert.ok(Math.min(...all) >= 9, `${who} ${dark}: ${Math.min(...all)}`);
    }
    const groups = seen(groupPalette(12, dark), SEEN.everyone);
    for (const one of seen(labelPalette(8, dark), SEEN.everyone))
      for (const other of groups) assert.ok(difference(one, other) >= 9);
    assert.equal(new Set(labelPalette(40, dark)).size, 40);
  }
});

test("thirty-six groups have colours of their own, and the last twelve are told apart from all others", () => {
  for (const dark of [false, true]) {
    assert.equal(new Set(groupPalette(40, dark)).size, 36);
    const colours = [...groupPalette(36, dark)].map((colour) => lab(colour, SEEN.everyone));
    for (let i = 24; i < 36; i++)
      for (let j = 0; j < i; j++) assert.ok(difference(colours[i], colours[j]) > 6, `${i} ${j}`);
  }
});

test("colours are seen on the ground; those after the twelfth are muted, parts of a group are alike", () => {
  const chroma = (colour) =>
    Math.hypot(...lab(Number.parseInt(colour.slice(1), 16), SEEN.everyone).slice(1));
  for (const [dark, ground] of [
    [false, 0xffffff],
    [true, 0x14181c],
  ]) {
    for (const colour of groupPalette(36, dark))
      assert.ok(contrast(colour, ground) >= 2, colour.toString(16));
  }
  for (let i = 0; i < 12; i++) {
    assert.ok(chroma(groupColour(i + 12).light) < 0.6 * chroma(groupColour(i).light));
    const shades = [0, 1, 2, 3, 4].map((shade) => groupColour(i, shade).light);
    assert.equal(new Set(shades).size, 5);
    assert.deepEqual(groupColour(i, 5), groupColour(i));
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
