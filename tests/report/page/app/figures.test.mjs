import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, deflateSync } from "node:zlib";

import { withResolution } from "../../../../src/spheremix/report/page/app/figures.js";

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

test("a PNG says how many of its pixels make an inch", () => {
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]);
  const sign = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const data = deflateSync(Buffer.from([0, 255]));
  const rest = [chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))];
  const png = Buffer.concat([sign, chunk("IHDR", header), ...rest]);
  const metre = Buffer.from([0, 0, 0x2e, 0x23, 0, 0, 0x2e, 0x23, 1]); // 11,811 pixels
  const expected = Buffer.concat([sign, chunk("IHDR", header), chunk("pHYs", metre), ...rest]);
  assert.deepEqual(Buffer.from(withResolution(png, 300)), expected);
});
