import assert from "node:assert/strict";
import { test } from "node:test";

import {
  anyCut,
  createSearch,
  firstLine,
  isCut,
  isFiltered,
  listDocuments,
  nameOf,
} from "../../../../src/spheremix/report/page/documents/filters.js";
import { sureText } from "../../../../src/spheremix/report/page/groups/certainty.js";

const documents = {
  id: ["Anna", "ben", "cleo", "dora", "emil"],
  text: ["Goal!", "the BANK", "a goal", "", "İstanbul"],
  length: [5, 8, 60, 0, 8],
  date: ["2020-01-05", "2020-03-01", null, "2021-06-30", "2020-03-01T10:00"],
  labels: [[0], [1], [0, 1], [], [1]],
  label_names: ["sport", "money"],
  cosine: Float32Array.of(0.5, 0.9, 0.7, 0.7, 0.1),
  log_odds: Float32Array.of(3, Infinity, 1, 2, Infinity),
  group: Uint16Array.of(0, 1, 0, 2, 1),
  second_group: Uint16Array.of(1, 0, 2, 0, 2),
};
const step = { labels: Uint8Array.of(0, 1, 0, 2, 2) };
const all = {
  cut: 0,
  node: -1,
  group: 0,
  scope: "all",
  list: "all",
  sort: "given",
  word: -1,
  text: "",
  label: -1,
  rival: -1,
  from: "",
  to: "",
};
const content = { model: { n_groups: 3 }, stability: null };
const list = (now) =>
  listDocuments(documents, step, { ...all, ...now }, createSearch(documents), content);

test("documents are those of the group at this step, or all of them", () => {
  assert.deepEqual(list({}), [0, 1, 2, 3, 4]);
  assert.deepEqual(list({ scope: "group", group: 2 }), [3, 4]);
});

test("they are sorted by cosine or by log-odds, equals as given", () => {
  assert.deepEqual(list({ sort: "central" }), [1, 2, 3, 0, 4]);
  assert.deepEqual(list({ sort: "unsure" }), [2, 3, 0, 1, 4]);
});

test("labels, days and texts narrow the list", () => {
  assert.deepEqual(list({ label: 1 }), [1, 2, 4]);
  assert.deepEqual(list({ from: "2020-03-01" }), [1, 3, 4]);
  assert.deepEqual(list({ to: "2020-03-01" }), [0, 1, 4]); // the whole of that day
  assert.deepEqual(list({ from: "2020-02-01", to: "2020-12-31" }), [1, 4]);
  assert.deepEqual(list({ text: "GOAL" }), [0, 2]);
  assert.deepEqual(list({ text: "anna" }), [0]); // ids count too
});

test("years and months that have the day are listed", () => {
  const known = { ...documents, date: ["2020", "2020-03", "2021", "2019", null] };
  const listed = (now) =>
    listDocuments(known, step, { ...all, ...now }, createSearch(known), content);
  assert.deepEqual(listed({ from: "2020-03-15" }), [0, 1, 2]);
  assert.deepEqual(listed({ from: "2020-04-01" }), [0, 2]);
  assert.deepEqual(listed({ to: "2020-02-28" }), [0, 3]);
  assert.deepEqual(listed({ from: "2020-04-01", to: "2020-12-31" }), [0]);
});

test("a document is called by its title, or by the first line of its text, and found by it", () => {
  const titled = { ...documents, title: ["Home", "", "Away", "", "y"] };
  const names = [0, 1, 3].map((i) => nameOf(titled, i));
  assert.deepEqual(names, ["Home", "the BANK", "dora"]);
  assert.equal(nameOf({ ...documents, title: null }, 0), "Goal!");
  assert.equal(nameOf({ ...documents, title: null, text: null }, 0), "Anna");
  const search = createSearch(titled);
  assert.deepEqual(listDocuments(titled, step, { ...all, text: "home" }, search, content), [0]);
});

test("the first line of a text is its title, and of a long one the first words", () => {
  assert.deepEqual(firstLine("\n A title \r\n\nA text."), {
    line: "A title",
    rest: "\r\n\nA text.",
  });
  assert.deepEqual(firstLine(""), { line: "", rest: "" });
  const { line, rest } = firstLine("word ".repeat(40));
  assert.ok(line.length <= 74 && line.endsWith("word …"));
  const words = (text) => text.match(/word/gu).length;
  assert.equal(words(line) + words(rest), 40);
});

test("the typical documents are the surest, and none of them is borderline", () => {
  assert.deepEqual(list({ list: "typical" }), [1, 4]);
  assert.deepEqual(list({ list: "typical", scope: "group", group: 0 }), [0]); // probably here
  assert.deepEqual(list({ list: "typical", text: "a goal" }), []); // borderline
  assert.deepEqual(list({ list: "borderline" }), [2, 3]);
});

test("documents with a word are those that the report knows to have it", () => {
  const rows = { indptr: Uint32Array.of(0, 1, 3, 3, 4, 4), words: Uint16Array.of(7, 2, 7, 5) };
  const known = { ...content, rows };
  const having = (word) =>
    listDocuments(documents, step, { ...all, word }, createSearch(documents), known);
  assert.deepEqual([having(7), having(5), having(1)], [[0, 1], [3], []]);
});

test("any filter counts, all groups do not", () => {
  const now = { ...all, lasso: "" };
  assert.equal(isFiltered(now), false);
  for (const one of [{ word: 0 }, { label: 0 }, { to: "2020" }, { lasso: "1,1" }])
    assert.equal(isFiltered({ ...now, ...one }), true);
});

test("between two groups are those for which both are the most probable", () => {
  assert.deepEqual(list({ rival: 2 }), [2, 3, 4]);
  assert.deepEqual(list({ rival: 2, scope: "group", group: 0 }), [2]);
  const now = { ...all, rival: 2, scope: "group", group: 0 };
  const search = createSearch(documents);
  const merged = { labels: Uint8Array.of(0, 0, 0, 2, 0), holderOf: (k) => (k === 1 ? 0 : k) };
  assert.deepEqual(listDocuments(documents, merged, now, search, content), [2, 4]);
});

test("a corpus without labels, dates and second groups lists nothing for them", () => {
  const bare = { ...documents, date: null, labels: null, second_group: null };
  const search = createSearch(bare);
  for (const now of [{ label: 0 }, { from: "2000-01-01" }, { to: "2030-01-01" }])
    assert.deepEqual(listDocuments(bare, step, { ...all, ...now }, search, content), []);
});

test("texts that were shortened are known", () => {
  assert.deepEqual(
    [0, 2].map((i) => isCut(documents, i)),
    [false, true],
  );
  assert.equal(anyCut(documents), true);
  assert.equal(anyCut({ ...documents, length: [5, 8, 6, 0, 8] }), false);
  assert.equal(anyCut({ ...documents, text: null, length: null }), false);
});

test("the newest come first, those without a date last; the most unlike are the farthest", () => {
  assert.deepEqual(list({ sort: "newest" }), [3, 4, 1, 0, 2]);
  assert.deepEqual(list({ sort: "unlike" }), [4, 0, 2, 3, 1]);
});

test("the least sure are those of little stability, and those of even odds where none is known", () => {
  const stability = { documents: Float32Array.of(0.9, 0.2, 0.9, 0.6, 0.8) };
  const now = { ...all, sort: "unsure" };
  const measured = { ...content, stability };
  const found = listDocuments(documents, step, now, createSearch(documents), measured);
  assert.deepEqual(found, [1, 3, 4, 2, 0]); // of two that are as stable, that of closer odds first
  assert.deepEqual(list({ sort: "unsure" }), [2, 3, 0, 1, 4]);
});

test("what is shown beside borderline documents grows down the list", () => {
  const many = {
    ...documents,
    group: Uint16Array.of(0, 0, 0, 0, 0),
    log_odds: Float32Array.of(9, 2, 0.5, 1, 30),
  };
  const stability = { documents: Float32Array.of(0.45, 0.1, 0.95, 0.6, 0), n_replicates: 20 };
  const measured = { ...content, stability };
  const now = { ...all, list: "borderline" };
  const found = listDocuments(many, { labels: many.group }, now, createSearch(many), measured);
  assert.deepEqual(
    found.map((i) => sureText(measured, many, i)),
    ["borderline (0 of 20)", "borderline (2 of 20)", "borderline (9 of 20)"],
  );
});

test("documents are listed by how sure they are; those that belong nowhere follow the borderline", () => {
  const lost = { ...documents, group: Uint16Array.of(0, 1, 0, 3, 1) }; // the fourth one
  const listed = (now) =>
    listDocuments(lost, step, { ...all, ...now }, createSearch(lost), content);
  assert.deepEqual(listed({ list: "borderline" }), [2]);
  assert.deepEqual(listed({ list: "typical" }), [1, 4]);
  assert.deepEqual(listed({ sort: "unsure" }), [2, 3, 0, 1, 4]);
  const alone = { list: "typical", text: "dora" };
  assert.deepEqual(listed(alone), [3]); // of those that belong nowhere, too
});
