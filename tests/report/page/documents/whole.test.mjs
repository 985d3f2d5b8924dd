import assert from "node:assert/strict";
import { test } from "node:test";

import { strataOf } from "../../../../src/spheremix/report/page/documents/whole.js";

test("a group has all documents of its strata, or it is not known which", () => {
  const counted = { of: [0, 0, 1, 2, 2], sizes: [100, 50, 10] };
  assert.deepEqual(strataOf(counted, [7, 7, 7, 3, 3], 7), [0, 1]);
  assert.deepEqual(strataOf(counted, [7, 7, 7, 3, 3], 3), [2]);
  assert.equal(strataOf(counted, [7, 7, 7, 3, 7], 7), null);
});
