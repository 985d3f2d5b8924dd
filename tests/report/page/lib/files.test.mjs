import assert from "node:assert/strict";
import { test } from "node:test";

import { toCsv } from "../../../../src/spheremix/report/page/lib/files.js";

const cell = (value) => toCsv([], [[value]]).slice(1, -1);

test("cells are quoted where CSV asks for it", () => {
  assert.equal(toCsv(["a", "b"], [[1, "x"]]), "a,b\n1,x\n");
  assert.equal(cell('say "a", b'), '"say ""a"", b"');
  assert.equal(cell("two\nlines"), '"two\nlines"');
  assert.equal(cell("two\rlines"), '"two\rlines"');
});

test("what is not there is empty, and infinity is inf", () => {
  assert.deepEqual([null, undefined, 0, -0.5, Infinity].map(cell), ["", "", "0", "-0.5", "inf"]);
});

test("a spreadsheet must not run a cell, and numbers stay numbers", () => {
  for (const text of ["=1+1", "+a", "-a", "@x", "\tx", "'=1", "''=1", "-1e5"])
    assert.equal(cell(text), `'${text}`);
  for (const text of ["-1", "+2.5", "a=b", "12-3", "'quoted'"]) assert.equal(cell(text), text);
  assert.equal(cell("=a,b"), `"'=a,b"`);
});
