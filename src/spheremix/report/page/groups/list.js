// The groups in the order of the tree, a line each: colour, name, how sure, how big.

import { seenColour } from "../lib/colours.js";
import { barOf, bdi, find, make, noteSpan, present, reveal } from "../lib/dom.js";
import { counted, integer } from "../lib/format.js";
import { levelOf, STABILITY_TITLE, stabilityMark, stabilityPhrase } from "./certainty.js";
import { chooseGroup, chosenId } from "./grouping.js";

/** @import { App, Group, Grouping } from "../types.d.ts" */

const ROOMY = 12; // groups at most whose words are seen below their names

/** @param {App} app */
export function mountGroups(app) {
  const { content, state } = app;
  const list = find("group-list");
  /** @type {Map<number, HTMLElement>} */
  let options = new Map();
  let waiting = 0;

  const choose = (/** @type {number} */ id) => {
    chooseGroup(state, app.groups(), id);
    // In one column the group itself is far below the list.
    if (matchMedia("(max-width: 760px)").matches) find("card").scrollIntoView();
  };
  const mark = () => {
    const id = chosenId(state.now);
    for (const [one, option] of options) option.setAttribute("aria-selected", String(one === id));
    const option = options.get(id);
    if (!option) return;
    list.setAttribute("aria-activedescendant", option.id);
    // Where it is, is asked once all has its place anyway: before the next frame is painted.
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => reveal(list, option));
  };
  const draw = () => {
    const groups = app.groups();
    const order = content.tree ? "similar together" : "by size";
    find("group-title").replaceChildren(counted(groups.groups.length, "group"), noteSpan(order));
    const largest = Math.max(...groups.groups.map(({ size }) => size), 1);
    list.style.setProperty("--size", `${integer(largest).length}ch`);
    options = new Map(groups.listed.map((group) => [group.id, item(group, largest, choose)]));
    const lines = [...options].flatMap(([id, option], i, all) => [
      ...levelHeads(app, groups, id, all[i - 1]?.[0]),
      option,
    ]);
    list.replaceChildren(...lines);
    list.classList.toggle("roomy", options.size <= ROOMY);
    mark();
  };
  state.follow(["step", "cut", "edited", "theme"], draw);
  state.follow(["group", "node"], mark);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

// Return the names of the broader groups that begin before a group, where levels were asked for.
/** @param {App} app @param {Grouping} groups @param {number} id @param {number | undefined} before */
function levelHeads({ content: { tree } }, { exact, nowhere }, id, before) {
  if (!tree || !exact || id === nowhere?.id) return [];
  return tree.levels
    .filter(([, nodes]) => before === undefined || nodes[before] !== nodes[id])
    .map(([M, nodes]) =>
      make(
        "li",
        { class: "level", role: "presentation", title: `One of ${M} broader groups` },
        bdi(tree.names[nodes[id]]),
      ),
    );
}

// Return the line of a group: its colour, its name, the sign of its stability, a bar and its size. Its words
// are heard, and seen under the pointer.
/** @param {Group} group @param {number} largest @param {(id: number) => void} choose */
function item(group, largest, choose) {
  const bar = barOf(group.size / largest);
  const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
  for (const one of [bar, swatch]) one.style.background = seenColour(group.colour);
  const named = new Set(group.name().toLowerCase().split(" "));
  const words = group.words.filter((word) => !named.has(word.toLowerCase())).join(" ");
  return make(
    "li",
    {
      role: "option",
      id: `group-${group.id}`,
      "aria-selected": "false",
      class: group.by.length ? "edited-group" : null,
      title: words ? `${group.name()}: ${words}` : group.name(),
      on: { click: () => choose(group.id) },
    },
    make(
      "span",
      { class: "head" },
      swatch,
      nameParts(group.name()),
      ...present([group.by.length ? editedSign() : stabilitySign(group.stability)]),
      make("span", { class: "track" }, bar),
      make("span", { class: "size number", text: integer(group.size) }),
    ),
    words ? bdi(words, { class: "words heard" }) : null,
  );
}

// Return a name of which the parts that find no room are not seen, instead of half a word.
/** @param {string} name */
function nameParts(name) {
  const parts = name.split(/(?= · )/u).map((text) => make("span", { text }));
  return make("bdi", { class: "name" }, ...parts);
}

/** Return the sign that is seen; its phrase is heard. @param {number | null} value */
function stabilitySign(value) {
  if (value === null) return null;
  const phrase = make("span", { class: "heard", text: stabilityPhrase(value) });
  const sign = make(
    "span",
    {
      class: levelOf(value) === "weak" ? "stability warning" : "stability",
      title: `${stabilityPhrase(value)}. ${STABILITY_TITLE}`,
    },
    phrase,
  );
  sign.dataset.sign = stabilityMark(value);
  return sign;
}

function editedSign() {
  const sign = make("span", {
    class: "stability edited-sign",
    title: "Edited, not fitted again yet",
  });
  sign.append(make("span", { class: "heard", text: "edited, not fitted again yet" }));
  sign.dataset.sign = "✎";
  return sign;
}

/** @param {App} app @param {number} by */
export function moveGroup(app, by) {
  const groups = app.groups();
  const ids = groups.listed.map(({ id }) => id);
  const at = ids.indexOf(chosenId(app.state.now)) + by;
  if (at >= 0 && at < ids.length) chooseGroup(app.state, groups, ids[at]);
}
