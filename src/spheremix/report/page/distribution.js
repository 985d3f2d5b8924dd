// How the documents of a cluster spread over labels and over time.

import { bdi, make } from "./dom.js";
import { counted, decimal, integer, percent } from "./format.js";

const SHOWN = 8;
const YEARS_FROM = 60; // months: beyond them, time is counted in years

export function labelBars(content, step, k, state) {
  const { documents } = content;
  if (!documents || !documents.labels) return null;
  const { inside, totals, size } = countLabels(documents, step.labels, k);
  const order = [...inside.keys()]
    .filter((label) => inside[label] > 0)
    .sort((a, b) => inside[b] - inside[a] || a - b);
  if (!order.length) return null;
  const rows = order.slice(0, SHOWN).map((label) => {
    const bar = make("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${(100 * inside[label]) / inside[order[0]]}%`;
    const text = `${integer(inside[label])} of ${integer(totals[label])}`;
    const lift = inside[label] / size / (totals[label] / documents.id.length);
    const title =
      `${percent(inside[label] / size)} of this cluster, ` +
      `${decimal(lift)} times as frequent as in all; show its documents`;
    const click = () => state.set({ label, scope: "cluster" });
    return make(
      "li",
      {},
      make(
        "button",
        { type: "button", title, on: { click } },
        bdi(documents.label_names[label]),
        make("span", { class: "track" }, bar),
        make("span", { class: "number", text }),
      ),
    );
  });
  const more = order.length - rows.length;
  const rest = more > 0 ? `; ${counted(more, "rarer label")} not shown` : "";
  const note = `in this cluster, of all${rest}`;
  return make(
    "section",
    { class: "part" },
    make("h3", {}, "Labels", make("span", { class: "note", text: note })),
    make("ul", { class: "bars" }, ...rows),
  );
}

function countLabels(documents, labels, k) {
  const n = documents.label_names.length;
  const inside = new Array(n).fill(0);
  const totals = new Array(n).fill(0);
  let size = 0;
  documents.labels.forEach((own, i) => {
    const here = labels[i] === k;
    size += here;
    for (const label of own || []) {
      totals[label]++;
      if (here) inside[label]++;
    }
  });
  return { inside, totals, size };
}

export function timeBars(content, step, k) {
  const dates = content.documents && content.documents.date;
  if (!dates) return null;
  const { periods, inside, totals, undated } = countPeriods(dates, step.labels, k);
  if (!periods.length) return null;
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
  const note = `documents a ${period}${undated ? `; ${integer(undated)} without date` : ""}`;
  const label = `From ${periods[0]} to ${periods.at(-1)}, at most ${largest}`;
  return make(
    "section",
    { class: "part" },
    make("h3", {}, "Time", make("span", { class: "note", text: note })),
    make("div", { class: "timeline", role: "img", "aria-label": label }, ...bars),
    make(
      "div",
      { class: "ends" },
      make("span", { text: periods[0] }),
      make("span", { text: periods.at(-1) }),
    ),
  );
}

// Every period from the first to the last that has documents, without gaps.
function countPeriods(dates, labels, k) {
  const months = dates.map((date) =>
    date ? Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7) || 1) - 1 : null,
  );
  const known = months.filter((month) => month !== null && !Number.isNaN(month));
  if (!known.length) return { periods: [], inside: [], totals: [], undated: months.length };
  const low = known.reduce((a, b) => Math.min(a, b));
  const high = known.reduce((a, b) => Math.max(a, b));
  const unit = high - low >= YEARS_FROM ? 12 : 1;
  const first = Math.floor(low / unit);
  const n = Math.floor(high / unit) - first + 1;
  const inside = new Array(n).fill(0);
  const totals = new Array(n).fill(0);
  months.forEach((month, i) => {
    if (month === null || Number.isNaN(month)) return;
    const at = Math.floor(month / unit) - first;
    totals[at]++;
    if (labels[i] === k) inside[at]++;
  });
  const periods = Array.from({ length: n }, (_, i) => periodName(first + i, unit));
  return { periods, inside, totals, undated: dates.length - known.length };
}

function periodName(number, unit) {
  if (unit === 12) return String(number).padStart(4, "0");
  const year = String(Math.floor(number / 12)).padStart(4, "0");
  return `${year}-${String((number % 12) + 1).padStart(2, "0")}`;
}
