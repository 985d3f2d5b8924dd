// How the documents of a cluster spread over labels and over time.

import { bdi, make } from "./dom.js";
import { counted, decimal, integer, percent } from "./format.js";

/** @import { Content, Documents, LabelColumn, Labels, State, Step } from "./types.d.ts" */

const SHOWN = 8;
const WIDE = 80; // columns: more of them have no room for lines between them
const YEARS_FROM = 60; // months: beyond them, time is counted in years

// A part for each column of labels.
/** @param {Content} content @param {Step} step @param {number} k @param {State} state */
export function labelBars(content, step, k, state) {
  const { documents } = content;
  if (!documents?.labels || !documents.label_names) return [];
  const names = documents.label_names;
  const counts = countLabels(documents.labels, names.length, step.labels, k);
  const columns = documents.label_columns ?? [];
  return columns.map((column) => columnBars(documents, column, counts, state));
}

/**
 * @param {Documents} documents @param {LabelColumn} column
 * @param {ReturnType<typeof countLabels>} counts @param {State} state
 */
function columnBars(documents, column, { inside, totals, size }, state) {
  const names = documents.label_names ?? [];
  const order = labelOrder(inside, column);
  if (!order.length) return null;
  const rows = order.slice(0, SHOWN).map((label) => {
    const bar = make("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${(100 * inside[label]) / inside[order[0]]}%`;
    const text = `${integer(inside[label])} of ${integer(totals[label])}`;
    const lift = inside[label] / size / (totals[label] / documents.id.length);
    const title =
      `${percent(inside[label] / size)} of this cluster, ` +
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
  const note = `in this cluster, of all documents${rest}`;
  return make(
    "section",
    { class: "part" },
    make("h3", {}, "Labels: ", bdi(column.name), make("span", { class: "note", text: note })),
    make("ul", { class: "bars" }, ...rows),
  );
}

// The labels of a column that the cluster has, the most frequent first.
/** @param {number[]} inside @param {Pick<LabelColumn, "start" | "stop">} column */
export function labelOrder(inside, { start, stop }) {
  return Array.from({ length: stop - start }, (_, i) => start + i)
    .filter((label) => inside[label] > 0)
    .sort((a, b) => inside[b] - inside[a] || a - b);
}

/** @param {number[][]} labels @param {number} n @param {Labels} clusters @param {number} k */
export function countLabels(labels, n, clusters, k) {
  /** @type {number[]} */
  const inside = new Array(n).fill(0);
  /** @type {number[]} */
  const totals = new Array(n).fill(0);
  let size = 0;
  labels.forEach((own, i) => {
    const here = clusters[i] === k;
    if (here) size++;
    for (const label of own) {
      totals[label]++;
      if (here) inside[label]++;
    }
  });
  return { inside, totals, size };
}

/** @param {Content} content @param {Step} step @param {number} k */
export function timeBars(content, step, k) {
  const dates = content.documents?.date;
  if (!dates) return null;
  const { periods, inside, totals, undated } = countPeriods(dates, step.labels, k);
  if (!periods.length) return null;
  const n = periods.length;
  const largest = Math.max(...inside, 1);
  const bars = periods.map((period, i) => {
    const bar = make("span", {
      class: "column",
      title: `${period}: ${integer(inside[i])} of ${counted(totals[i], "document")}`,
    });
    bar.style.height = `${(100 * inside[i]) / largest}%`;
    return bar;
  });
  const period = periods[0].length === 4 ? "year" : "month";
  const note = `documents per ${period}${undated ? `; ${integer(undated)} without a date` : ""}`;
  const label = `From ${periods[0]} to ${periods.at(-1)}, at most ${largest}`;
  return make(
    "section",
    { class: "part" },
    make("h3", {}, "Time", make("span", { class: "note", text: note })),
    make(
      "div",
      { class: `timeline${n > WIDE ? " dense" : ""}`, role: "img", "aria-label": label },
      ...bars,
    ),
    make(
      "div",
      { class: "ends" },
      make("span", { text: periods[0] }),
      make("span", { text: periods.at(-1) }),
    ),
  );
}

// Every period from the first to the last that has documents, without gaps.
/** @param {(string | null)[]} dates @param {Labels} labels @param {number} k */
export function countPeriods(dates, labels, k) {
  const months = dates.map(monthOf);
  const known = months.filter((month) => month !== null);
  if (!known.length) return { periods: [], inside: [], totals: [], undated: months.length };
  const low = known.reduce((a, b) => Math.min(a, b));
  const high = known.reduce((a, b) => Math.max(a, b));
  // The month of a year is not known.
  const years = dates.some((date, i) => months[i] !== null && date?.length === 4);
  const unit = years || high - low >= YEARS_FROM ? 12 : 1;
  const first = Math.floor(low / unit);
  const n = Math.floor(high / unit) - first + 1;
  /** @type {number[]} */
  const inside = new Array(n).fill(0);
  /** @type {number[]} */
  const totals = new Array(n).fill(0);
  months.forEach((month, i) => {
    if (month === null) return;
    const at = Math.floor(month / unit) - first;
    totals[at]++;
    if (labels[i] === k) inside[at]++;
  });
  const periods = Array.from({ length: n }, (_, i) => periodName(first + i, unit));
  return { periods, inside, totals, undated: dates.length - known.length };
}

// Months since the year 0; null where a document has no date, or none that can be read.
/** @param {string | null} date */
function monthOf(date) {
  const month = date ? Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7) || 1) - 1 : NaN;
  return Number.isNaN(month) ? null : month;
}

/** @param {number} number @param {number} unit */
function periodName(number, unit) {
  if (unit === 12) return String(number).padStart(4, "0");
  const year = String(Math.floor(number / 12)).padStart(4, "0");
  return `${year}-${String((number % 12) + 1).padStart(2, "0")}`;
}
