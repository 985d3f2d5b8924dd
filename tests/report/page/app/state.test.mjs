import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { createState } from "../../../../src/spheremix/report/page/app/state.js";

const defaults = {
  step: 3,
  group: 0,
  document: -1,
  zoom: [0, 1],
  text: "",
  sort: "typical",
  from: "",
};
const limits = {
  step: [0, 9],
  group: [0, 4],
  document: [-1, 99],
  sort: ["typical", "given"],
  from: /^(?:\d{4}-\d{2}-\d{2})?$/u,
};
const listeners = {};

mock.timers.enable({ apis: ["setTimeout"] });

beforeEach(() => {
  if (globalThis.history) mock.timers.tick(1000); // what an earlier test left
  globalThis.location = { hash: "", pathname: "/report.html" };
  const go = (_, __, hash) => (location.hash = hash);
  globalThis.history = { replaceState: go, pushState: go };
  globalThis.addEventListener = (event, listener) => (listeners[event] = listener);
});

function opened(hash) {
  location.hash = hash;
  return createState(defaults, limits);
}

test("what is not a value of its kind is passed over", () => {
  for (const hash of [
    "#step=10",
    "#step=-1",
    "#step=2.5",
    "#step=",
    "#step=NaN",
    "#zoom=0.5",
    "#zoom=0.5,0.2",
    "#zoom=-1,2",
    "#zoom=a,b",
    "#sort=hostile",
    "#from=yesterday",
    "#from=2020-1-1",
    "#__proto__=1",
    "#constructor=1",
    "#toString=1",
    "#group=-3&document=1e9",
    "#%zz",
  ])
    assert.deepEqual(opened(hash).now, defaults, hash);
});

test("followers are called at once, and when one of their keys changes", () => {
  const state = opened("");
  const calls = [];
  state.follow(["step", "group"], () => calls.push(`${state.now.step} ${state.now.group}`));
  state.set({ step: 4 });
  state.set({ step: 4 });
  state.set({ text: "x" });
  state.set({ group: 1, step: 2 });
  state.set({ zoom: [0, 1] });
  assert.deepEqual(calls, ["3 0", "4 0", "2 1"]);
});

test("while the slider moves, what is below the first screen waits until it rests", () => {
  const state = opened("");
  let n = 0;
  state.followAtRest(["step", "group"], () => n++);
  state.set({ step: 4 });
  mock.timers.tick(50);
  state.set({ step: 5 });
  mock.timers.tick(50);
  assert.equal(n, 1);
  mock.timers.tick(10);
  assert.equal(n, 2);
  state.set({ group: 1 });
  assert.equal(n, 3);
});

test("the address keeps what differs from the beginning, and nothing else", () => {
  const state = opened("");
  state.set({ step: 5, zoom: [0.25, 0.5], text: "a & b", sort: "given", from: "2020-01-31" });
  mock.timers.tick(150);
  const kept = "#step=5&zoom=0.25%2C0.5&text=a+%26+b&sort=given&from=2020-01-31";
  assert.equal(location.hash, kept);
  assert.deepEqual(createState(defaults, limits).now, state.now);
  state.set({ ...defaults });
  mock.timers.tick(150);
  assert.equal(location.hash, "/report.html");
});

test("a new address is followed; what it does not tell is as at the beginning", () => {
  const state = opened("#step=5");
  location.hash = "#group=2";
  listeners.hashchange();
  assert.deepEqual(state.now, { ...defaults, group: 2 });
});

test("edits are no part of the address, and no address undoes them", () => {
  const state = createState({ ...defaults, edited: 0 }, limits);
  state.set({ edited: 3 });
  mock.timers.tick(150);
  assert.equal(location.hash, "");
  location.hash = "#edited=0&step=5";
  listeners.hashchange();
  assert.equal(state.now.edited, 3);
  assert.equal(state.now.step, 5);
});

test("values that do not go together are mended, at first and for an address that was typed", () => {
  location.hash = "#step=9&group=4";
  const mend = ({ step }) => (step === 9 ? { group: 1 } : {});
  const { now } = createState(defaults, limits, mend);
  assert.equal(now.group, 1);
  location.hash = "#step=8&group=4";
  listeners.hashchange();
  assert.equal(now.group, 4);
  location.hash = "#step=9&group=3";
  listeners.hashchange();
  assert.equal(now.group, 1);
});
