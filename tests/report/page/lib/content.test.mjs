import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { readContent } from "../../../../src/spheremix/report/page/lib/content.js";

// A container as docs/report.md describes it: length, header, then arrays at multiples of 8 bytes.
function packed(header, arrays) {
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  const pad = (bytes) => Buffer.concat([bytes, Buffer.alloc((8 - (bytes.length % 8)) % 8)]);
  const parts = arrays.map((array) => pad(Buffer.from(array.buffer)));
  const data = Buffer.concat([pad(Buffer.concat([length, text])), ...parts]);
  return gzipSync(data).toString("base64");
}

test("differences between steps are added up, and wrap around", async () => {
  const rows = [
    [250, 0],
    [4, 1],
    [3, 255],
  ];
  const differences = rows.flatMap((row, s) => row.map((v, i) => v - (s ? rows[s - 1][i] : 0)));
  const labels = { array: "uint8", shape: [3, 2], offset: 0, delta: true };
  const content = await readContent(packed({ labels }, [Uint8Array.from(differences)]));
  assert.deepEqual([...content.labels], rows.flat());
});

test("an array without steps is empty", async () => {
  const labels = { array: "uint16", shape: [0, 5], offset: 0, delta: true };
  assert.equal((await readContent(packed({ labels }, []))).labels.length, 0);
});

test("any word may be a form of the texts", async () => {
  const forms = JSON.parse('{"array": 3, "constructor": 1, "__proto__": 2}');
  const content = await readContent(packed({ forms }, []));
  assert.deepEqual([...content.forms].sort(), [
    ["__proto__", 2],
    ["array", 3],
    ["constructor", 1],
  ]);
  assert.equal(content.forms.get("toString"), undefined);
});

test("what is damaged is refused", async () => {
  await assert.rejects(readContent("bm90IGd6aXA="));
  await assert.rejects(readContent("§"));
});
