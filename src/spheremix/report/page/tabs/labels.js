// Groups against the labels of a column: shares and counts, sorted by any of them.

import { chooseGroup } from "../groups/grouping.js";
import { bdi, find, make, rove, segmented, selectOf, tableOf, textButton } from "../lib/dom.js";
import { counted, integer, percent } from "../lib/format.js";
import { countLabels, labelOrder } from "./counts.js";
import { effectParts, isTime } from "./effects.js";

/** @import { App, Documents, LabelColumn } from "../types.d.ts" */

const SHOWN = 24; // labels of a column, before all are asked for

/** @typedef {"group" | "label" | "count"} Measure */
/** @typedef {{ column: number, measure: Measure, sort: number, all: boolean }} View */

/** @type {[Measure, string, string][]} */
const MEASURES = [
  ["group", "share of the group", "Of the documents of a group, how many have the label"],
  ["label", "share of the label", "Of the documents with a label, how many are in the group"],
  ["count", "documents", "How many documents"],
];

/** @param {App} app */
export function mountLabels(app) {
  const { documents } = app.content;
  const box = find("labels");
  const effects = make("div", { class: "wide" });
  const drawEffects = () => effects.replaceChildren(...effectParts(app, (one) => !isTime(one)));
  app.state.followAtRest(["tab", "step", "cut", "edited", "theme"], () => {
    if (app.state.now.tab === "labels") drawEffects();
  });
  if (!documents?.label_columns) {
    box.replaceChildren(effects);
    return;
  }
  const columns = documents.label_columns;
  /** @type {View} */
  const view = { column: 0, measure: "group", sort: -1, all: false };
  const choices = columns.map(({ name }, i) => /** @type {[number, string]} */ ([i, name]));
  const select = selectOf("label-column", "Column of labels", choices, (value) => {
    Object.assign(view, { column: Number(value), sort: -1 });
    draw();
  });
  select.hidden = columns.length < 2;
  const measures = segmented("What is shown", MEASURES, (measure) => {
    view.measure = measure;
    draw();
  });
  const table = make("div", { class: "wide" });
  const note = make("p", { class: "soft" });
  box.replaceChildren(
    make("div", { class: "controls" }, select, measures.group),
    note,
    table,
    effects,
  );
  const draw = () => {
    measures.choose(view.measure);
    const found = cells(app, documents, columns[view.column], view);
    note.textContent =
      `${counted(found.labels.length, "label")}${found.left ? ` of ${found.left + found.labels.length}` : ""}` +
      `, the most frequent first. Click a label to sort by it, a number to list its documents.`;
    table.replaceChildren(labelTable(app, documents, found, view, draw), more(found.left));
  };
  const more = (/** @type {number} */ left) =>
    left || view.all
      ? textButton(view.all ? "show fewer labels" : `show ${left} more labels`, () => {
          view.all = !view.all;
          draw();
        })
      : "";
  app.state.followAtRest(["tab", "step", "cut", "edited"], () => {
    if (app.state.now.tab === "labels") draw();
  });
}

// Return the labels to show, the groups in the order asked for, and all counts.
/** @param {App} app @param {Documents} documents @param {LabelColumn} column @param {View} view */
export function cells(app, documents, column, view) {
  const { groups, labels: assigned, nowhere } = app.groups();
  const ids = groups.map(({ id }) => id);
  const { counts, totals, sizes } = countLabels(documents, assigned, ids, nowhere?.id);
  const order = labelOrder(totals, column);
  const labels = view.all ? order : order.slice(0, SHOWN);
  const share = (/** @type {number} */ i, /** @type {number} */ label) => {
    if (view.measure === "count") return counts[i][label];
    return counts[i][label] / ((view.measure === "group" ? sizes[i] : totals[label]) || 1);
  };
  const rows = groups.map((group, i) => ({ group, i }));
  if (view.sort >= 0) rows.sort((a, b) => share(b.i, view.sort) - share(a.i, view.sort));
  return { labels, left: order.length - labels.length, rows, share, counts, sizes, totals };
}

/**
 * @param {App} app @param {Documents} documents @param {ReturnType<typeof cells>} found
 * @param {View} view @param {() => void} draw
 */
function labelTable(app, documents, found, view, draw) {
  const names = documents.label_names ?? [];
  const { labels, rows, share } = found;
  const largest = Math.max(
    ...rows.flatMap(({ i }) => labels.map((label) => share(i, label))),
    1e-9,
  );
  const head = labels.map((label) => {
    const sorted = view.sort === label;
    const click = () => {
      view.sort = sorted ? -1 : label;
      draw();
    };
    return make(
      "th",
      { scope: "col", "aria-sort": sorted ? "descending" : null },
      make(
        "button",
        { type: "button", class: "plain", title: "Sort by this label", on: { click } },
        breakable(names[label] || "(empty)"),
        sorted ? " ↓" : "",
      ),
    );
  });
  const body = rows.map(({ group, i }) =>
    make(
      "tr",
      {},
      make("th", { scope: "row", title: group.name() }, bdi(group.name())),
      ...labels.map((label) => cell(app, group.id, label, found, i, largest, view)),
    ),
  );
  const first = make("th", { scope: "col", text: "group" });
  return rove(tableOf("plain-table heat", [first, ...head], body), "td button");
}

// Return a name that may be broken after its signs, such as dots, and else only where a part is
// very long.
/** @param {string} name */
function breakable(name) {
  const parts = name.match(/[^._/:-]{1,14}[._/:-]*|[._/:-]+/gu) ?? [name];
  return make("bdi", {}, ...parts.flatMap((part, i) => (i ? [make("wbr"), part] : [part])));
}

/**
 * @param {App} app @param {number} id @param {number} label
 * @param {ReturnType<typeof cells>} found @param {number} i @param {number} largest
 * @param {View} view
 */
function cell(app, id, label, { share, counts, sizes, totals }, i, largest, view) {
  const value = share(i, label);
  const n = counts[i][label];
  const title = `${integer(n)} of ${integer(sizes[i])} in the group, of ${integer(totals[label])} with the label`;
  const click = () => chooseGroup(app.state, app.groups(), id, { label, list: "all" });
  const button = textButton(
    n === 0 ? "·" : view.measure === "count" ? integer(value) : percent(value),
    click,
    { title },
  );
  const box = make("td", { class: "number" }, button);
  box.style.setProperty("--heat", `${Math.round((100 * value) / largest)}%`);
  return box;
}
