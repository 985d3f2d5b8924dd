// Groups against the labels of a column: shares and counts, sorted by any of them.

import { chooseGroup } from "../groups/grouping.js";
import { bdi, find, make, rove, segmented, selectOf, tableOf, textButton } from "../lib/dom.js";
import { counted, integer, percent } from "../lib/format.js";
import { countLabels, labelOrder } from "./counts.js";
import { effectParts, isTime } from "./effects.js";

/** @import { App, Documents, LabelColumn, Measure } from "../types.d.ts" */

const SHOWN = 24; // labels of a column, before all are asked for

/** @typedef {ReturnType<typeof cells>} Cells */

/** @type {[Measure, string, string][]} */
export const MEASURES = [
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
  const choices = columns.map(({ name }, i) => /** @type {[number, string]} */ ([i, name]));
  const select = selectOf("label-column", "Column of labels", choices, (value) =>
    app.state.set({ column: Number(value), sorted: -1 }),
  );
  select.hidden = columns.length < 2;
  const measures = segmented("What is shown", MEASURES, (measure) => app.state.set({ measure }));
  const table = make("div", { class: "wide" });
  const note = make("p", { class: "soft" });
  box.replaceChildren(
    make("div", { class: "controls" }, select, measures.group),
    note,
    table,
    effects,
  );
  const draw = () => {
    const { column, measure, labels } = app.state.now;
    select.value = String(column);
    measures.choose(measure);
    const found = cells(app, documents, columns[column]);
    note.textContent =
      `${counted(found.labels.length, "label")}${found.left ? ` of ${found.left + found.labels.length}` : ""}` +
      `, the most frequent first. Click a label to sort by it, a number to list its documents.`;
    table.replaceChildren(labelTable(app, documents, found), more(found.left, labels === "all"));
  };
  const more = (/** @type {number} */ left, /** @type {boolean} */ all) =>
    left || all
      ? textButton(all ? "show fewer labels" : `show ${left} more labels`, () =>
          app.state.set({ labels: all ? "frequent" : "all" }),
        )
      : "";
  app.state.followAtRest(
    ["tab", "step", "cut", "edited", "column", "measure", "sorted", "labels"],
    () => {
      if (app.state.now.tab === "labels") draw();
    },
  );
}

// Return the labels to show, the groups in the order asked for, and all counts.
/** @param {App} app @param {Documents} documents @param {LabelColumn} column */
export function cells(app, documents, column) {
  const { measure, sorted, labels: which } = app.state.now;
  const { groups, labels: assigned, nowhere } = app.groups();
  const ids = groups.map(({ id }) => id);
  const { counts, totals, sizes } = countLabels(documents, assigned, ids, nowhere?.id);
  const order = labelOrder(totals, column);
  const labels = which === "all" ? order : order.slice(0, SHOWN);
  const share = (/** @type {number} */ i, /** @type {number} */ label) => {
    if (measure === "count") return counts[i][label];
    return counts[i][label] / ((measure === "group" ? sizes[i] : totals[label]) || 1);
  };
  const told = (/** @type {number} */ i, /** @type {number} */ label) => {
    if (counts[i][label] === 0) return "·";
    return measure === "count" ? integer(share(i, label)) : percent(share(i, label));
  };
  const rows = groups.map((group, i) => ({ group, i }));
  const by = order.includes(sorted) ? sorted : -1; // an address may have a label of another column
  if (by >= 0) rows.sort((a, b) => share(b.i, by) - share(a.i, by));
  const largest = Math.max(
    ...rows.flatMap(({ i }) => labels.map((label) => share(i, label))),
    1e-9,
  );
  // Of the largest one: how dark a cell is.
  const heat = (/** @type {number} */ i, /** @type {number} */ label) => share(i, label) / largest;
  const left = order.length - labels.length;
  return { ...{ labels, left, rows, by, told, heat }, ...{ counts, sizes, totals } };
}

/** @param {App} app @param {Documents} documents @param {Cells} found */
function labelTable(app, documents, found) {
  const names = documents.label_names ?? [];
  const { labels, rows, by } = found;
  const head = labels.map((label) => {
    const sorted = by === label;
    const click = () => app.state.set({ sorted: sorted ? -1 : label });
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
      ...labels.map((label) => cell(app, group.id, label, found, i)),
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

/** @param {App} app @param {number} id @param {number} label @param {Cells} found @param {number} i */
function cell(app, id, label, { told, heat, counts, sizes, totals }, i) {
  const n = counts[i][label];
  const title = `${integer(n)} of ${integer(sizes[i])} in the group, of ${integer(totals[label])} with the label`;
  const click = () => chooseGroup(app.state, app.groups(), id, { label, list: "all" });
  const button = textButton(told(i, label), click, { title });
  const box = make("td", { class: "number" }, button);
  box.style.setProperty("--heat", `${Math.round(100 * heat(i, label))}%`);
  return box;
}
