// The chosen group over labels and over time, as bars on its card.

import { bdi, make, makeSvg } from "./dom.js";
import { counted, decimal, integer, percent } from "./format.js";
import { countLabels, countPeriods, labelOrder } from "./distribution.js";
import { largestOf, stepsPath } from "./time_drawing.js";
import { rove } from "./roving.js";

/** @import { App, Documents, LabelColumn } from "./types.d.ts" */

const SHOWN = 8;
const WIDE = 400; // of the drawing of time, in its own units
const HIGH = 56;

// A part for each column of labels.
/** @param {App} app @param {number} id */
export function labelBars(app, id) {
  const { documents } = app.content;
  if (!documents?.labels || !documents.label_names) return [];
  const { labels, nowhere } = app.groups();
  const without = id === nowhere?.id ? undefined : nowhere?.id;
  const { counts, totals, sizes } = countLabels(documents, labels, [id], without);
  const found = { inside: counts[0], totals, size: sizes[0] };
  const columns = documents.label_columns ?? [];
  return columns.map((column) => columnBars(app, documents, column, found));
}

/**
 * @param {App} app @param {Documents} documents @param {LabelColumn} column
 * @param {{ inside: Uint32Array, totals: Uint32Array, size: number }} found
 */
function columnBars({ state }, documents, column, { inside, totals, size }) {
  const names = documents.label_names ?? [];
  const order = labelOrder(inside, column);
  if (!order.length) return null;
  const rows = order.slice(0, SHOWN).map((label) => {
    const bar = make("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${(100 * inside[label]) / size}%`;
    const text = `${integer(inside[label])} of ${integer(totals[label])}`;
    const lift = inside[label] / size / (totals[label] / documents.id.length);
    const title =
      `${percent(inside[label] / size)} of this group, ` +
      `${decimal(lift)} times as frequent as in all documents. Click to list them.`;
    const click = () => state.set({ label, scope: "cluster" });
    return make(
      "li",
      {},
      make(
        "button",
        { type: "button", title, on: { click } },
        bdi(names[label]),
        make("span", { class: "track" }, bar),
        make("span", { class: "number", text }),
      ),
    );
  });
  const more = order.length - rows.length;
  const rest = more > 0 ? `; ${counted(more, "rarer label")} not shown` : "";
  const note = `in this group, of all documents${rest}`;
  return make(
    "section",
    { class: "part" },
    make("h3", {}, "Labels: ", bdi(column.name), make("span", { class: "note", text: note })),
    rove(make("ul", { class: "bars" }, ...rows), "button"),
  );
}

/** @param {App} app @param {number} id */
export function timeBars(app, id) {
  const dates = app.content.documents?.date;
  if (!dates) return null;
  const { periods, counts, undated } = countPeriods(dates, app.groups().labels, [id]);
  if (!periods.length) return null;
  const [inside] = counts;
  const largest = Math.max(...inside, 1);
  const peak = periods[inside.indexOf(largest)] ?? periods[0];
  const period = periods[0].length === 4 ? "year" : "month";
  const note =
    `documents per ${period}, at most ${integer(largest)} in ${peak}` +
    (undated ? `; ${integer(undated)} without a date` : "");
  const seen = largestOf(inside, WIDE);
  return make(
    "section",
    { class: "part" },
    make("h3", {}, "Time", make("span", { class: "note", text: note })),
    makeSvg(
      "svg",
      {
        class: "timeline",
        viewBox: `0 0 ${WIDE} ${HIGH}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": `From ${periods[0]} to ${periods.at(-1)}: ${note}`,
      },
      makeSvg("path", { d: stepsPath(seen, WIDE, HIGH, largest) }),
    ),
    make(
      "div",
      { class: "ends" },
      make("span", { text: periods[0] }),
      make("span", { text: periods.at(-1) }),
    ),
  );
}
