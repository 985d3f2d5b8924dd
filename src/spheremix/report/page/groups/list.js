// The groups in the order of the tree: how big, in which words, how sure, with which label, when.

import { seenColour } from "../lib/colours.js";
import { barOf, bdi, find, make, noteSpan, present, reveal } from "../lib/dom.js";
import { sparkline } from "../lib/drawing.js";
import { counted, integer, percent } from "../lib/format.js";
import { countPeriods, topLabels } from "../tabs/counts.js";
import { STABILITY_TITLE, stabilityPhrase, levelOf, marksLines } from "./certainty.js";
import { chooseGroup, chosenId } from "./grouping.js";

/** @import { App, Group, Grouping } from "../types.d.ts" */

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
    const few = groups.groups.length < 7;
    const order = content.tree ? "similar together" : "by size";
    const red = !few && groups.groups.some(({ own }) => own.includes(true));
    find("group-title").replaceChildren(
      counted(groups.groups.length, "group"),
      noteSpan(red ? `${order}; red: only here` : order),
    );
    const marks = marksLines(groups.groups);
    find("group-marks").replaceChildren(...marks.map((text) => make("li", { text })));
    find("group-marks").hidden = !marks.length;
    list.classList.toggle("many", groups.groups.length > 8);
    list.classList.toggle("few", few);
    const largest = Math.max(...groups.groups.map(({ size }) => size), 1);
    const more = perGroup(app, groups);
    options = new Map(
      groups.listed.map((group, i) => [group.id, item(group, largest, more(i), choose)]),
    );
    list.replaceChildren(...options.values());
    mark();
  };
  state.follow(["step", "cut", "edited", "theme"], draw);
  state.follow(["group", "node"], mark);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

/**
 * @typedef {{ label: { name: string, share: number } | null, periods: number[] | null,
 *   merged: string }} More
 */

// Return the most frequent label of each group, its documents over time, and what it is to be
// merged with.
/** @param {App} app @param {Grouping} groups @returns {(i: number) => More} */
function perGroup({ content, edits }, { listed, labels, exact }) {
  const { documents } = content;
  const ids = listed.map(({ id }) => id);
  const tops = documents ? topLabels(documents, labels, ids) : null;
  const time = documents?.date
    ? countPeriods(documents.date, labels, ids, documents.passages)
    : null;
  return (i) => ({
    label: tops ? tops[i] : null,
    periods: time && time.periods.length > 1 ? time.counts[i] : null,
    merged: (exact ? edits.together(ids[i]) : [])
      .filter((id) => id !== ids[i])
      .map((id) => content.names[id])
      .join(" + "),
  });
}

/**
 * @param {Group} group @param {number} largest @param {More} more
 * @param {(id: number) => void} choose
 */
function item(group, largest, { label, periods, merged }, choose) {
  const bar = barOf(group.size / largest);
  bar.style.background = seenColour(group.colour);
  const named = new Set(group.name().split(" "));
  return make(
    "li",
    {
      role: "option",
      id: `group-${group.id}`,
      "aria-selected": "false",
      on: { click: () => choose(group.id) },
    },
    make(
      "span",
      { class: "head" },
      make("span", { class: "size number", text: integer(group.size) }),
      bdi(group.name(), { class: "name" }),
      periods && sparkline(periods),
    ),
    make("span", { class: "track" }, bar),
    merged ? make("span", { class: "merged" }, "to be merged with ", bdi(merged)) : null,
    wordLine(group, named),
    make(
      "span",
      { class: "under" },
      ...present([
        stabilityText(group.stability),
        label && make("span", { class: "label" }, `${percent(label.share)} are `, bdi(label.name)),
        group.only.length
          ? make(
              "span",
              { class: "only", title: `Only here: ${group.only.join(" ")}` },
              "only here: ",
              bdi(group.only.join(" ")),
            )
          : null,
      ]),
    ),
  );
}

// Return the words that the name does not have; those of no other group in their colour.
/** @param {Group} group @param {Set<string>} named */
function wordLine({ words, own }, named) {
  const line = make("bdi", { class: "words" });
  words.forEach((word, i) => {
    if (named.has(word)) return;
    if (line.hasChildNodes()) line.append(" ");
    line.append(own[i] ? make("span", { class: "own", text: word }) : word);
  });
  return line.hasChildNodes() ? line : null;
}

/** @param {number | null} value */
function stabilityText(value) {
  if (value === null) return null;
  return make("span", {
    class: levelOf(value) === "weak" ? "stability warning" : "stability",
    text: stabilityPhrase(value),
    title: STABILITY_TITLE,
  });
}

/** @param {App} app @param {number} by */
export function moveGroup(app, by) {
  const groups = app.groups();
  const ids = groups.listed.map(({ id }) => id);
  const at = ids.indexOf(chosenId(app.state.now)) + by;
  if (at >= 0 && at < ids.length) chooseGroup(app.state, groups, ids[at]);
}
