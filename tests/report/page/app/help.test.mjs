import assert from "node:assert/strict";
import { test } from "node:test";

import { meanings, moving } from "../../../../src/spheremix/report/page/app/help.js";

const content = {
  kind: "words",
  corpus: { n_kept: 3018 },
  documents: { second_group: Uint16Array.of(1) },
  stability: { n_replicates: 20 },
  candidates: [{ agreement: 0.7 }],
  advice: {},
  tree: {},
  model: { n_groups: 5 },
};

test("every number about certainty is explained, with what it is about", () => {
  const found = new Map(meanings(content));
  assert.match(found.get("restarts agree"), /^Of all groups together, in the same documents/u);
  assert.match(
    found.get("halves agree"),
    /^Of all groups together: .* two halves of the documents/u,
  );
  const samples = found.get("redrawn samples");
  assert.match(samples, /^The 3,018 documents are cut into thirds at random/u);
  assert.match(samples, /This is done with 20 thirds\./u);
  assert.match(found.get("stability"), /^Of one group: .*“\?” below 75 %.*“!” below 50 %/u);
  const documents = found.get("borderline, probably here, clearly here");
  assert.match(documents, /fewer than half of the 20 redrawn samples\. Clearly here/u);
  assert.match(documents, /at least 15 of 20\./u);
  assert.match(
    documents,
    /“least sure” .* the samples in which they are in their group, .* by the odds;/u,
  );
  assert.match(found.get("words in italics"), /fewer than half/u);
  assert.match(
    found.get("at other numbers of groups"),
    /for the 5 groups of the model, with the chosen number of words\./u,
  );
});

test("what a report does not have is not explained", () => {
  const bare = {
    ...content,
    documents: null,
    stability: null,
    candidates: [{ agreement: null }],
    advice: null,
    tree: null,
  };
  assert.deepEqual(meanings(bare), []);
  const unmeasured = meanings({ ...content, stability: null, advice: null, tree: null });
  assert.deepEqual(
    unmeasured.map(([term]) => term),
    ["restarts agree", "borderline, probably here, clearly here"],
  );
  assert.match(unmeasured[1][1], /they are 99 to 1 or more/u);
  assert.match(unmeasured[1][1], /“least sure” borderline documents come first, by their odds;/u);
  const advised = new Map(meanings({ ...content, stability: null }));
  assert.doesNotMatch(advised.get("redrawn samples"), /times/u); // how often is not in the report
});

test("the mouse is explained for the maps that there are", () => {
  const both = moving({ ...content, layout: {} });
  assert.match(both[0], /^On the map of documents turn the wheel .*a name to choose the group/u);
  assert.match(both[0], /lasso, or hold Shift/u);
  assert.match(both[1], /^In the tab of words hold Ctrl/u);
  const words = moving({ ...content, kind: "coordinates", layout: null });
  assert.match(words[0], /^On the map hold Ctrl .* to those coordinates\./u);
  assert.equal(words.length, 2);
});
