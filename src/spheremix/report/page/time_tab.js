// All groups over time: a row each, as counts or as shares of a period, smoothed when asked.

import { bdi, find, make, makeSvg, segmented } from "./dom.js";
import { counted, integer, percent } from "./format.js";
import { chooseGroup, chosenId } from "./grouping.js";
import { seenColour } from "./group_colours.js";
import { countPeriods } from "./distribution.js";
import { smoothed, stepsPath } from "./time_drawing.js";

/** @import { App } from "./types.d.ts" */

const WIDE = 1000;
const HIGH = 34;
const TICKS = 8;

/** @typedef {"count" | "share"} Measure */

/** @param {App} app */
export function mountTime(app) {
  const { state, content } = app;
  const dates = content.documents?.date;
  const box = find("time");
  if (!dates) return;
  /** @type {{ measure: Measure, reach: number, own: boolean }} */
  const view = { measure: "count", reach: 0, own: true };
  const redraw = (/** @type {Partial<typeof view>} */ changes) => {
    Object.assign(view, changes);
    draw();
  };
  const measures = segmented(
    "What is shown",
    /** @type {[Measure, string, string][]} */ ([
      ["count", "documents", "How many documents of the group in a period"],
      ["share", "share", "The share of the group among the documents of a period"],
    ]),
    (measure) => redraw({ measure }),
  );
  const smooth = make("select", { "aria-label": "Smoothing", id: "smoothing" });
  const scales = make("select", { "aria-label": "Scale", id: "time-scale" });
  scales.append(
    make("option", { value: "own", text: "a scale for each group" }),
    make("option", { value: "one", text: "one scale for all" }),
  );
  smooth.addEventListener("change", () => redraw({ reach: Number(smooth.value) }));
  scales.addEventListener("change", () => redraw({ own: scales.value === "own" }));
  const reading = make("p", { class: "soft", id: "time-reading" });
  const rows = make("div", { class: "time-rows" });
  box.replaceChildren(
    make("div", { class: "controls" }, measures.group, scales, smooth),
    reading,
    rows,
  );
  const first = countPeriods(dates, app.groups().labels, []);
  const unit = first.periods[0]?.length === 4 ? "year" : "month";
  smooth.append(
    ...[0, 1, 2, 5].map((reach) =>
      make("option", {
        value: reach,
        text: reach ? `smoothed over ${2 * reach + 1} ${unit}s` : "not smoothed",
      }),
    ),
  );

  const draw = () => {
    measures.choose(view.measure);
    const series = timeSeries(app, dates, view);
    const all = Math.max(...series.rows.map(({ top }) => top));
    const told =
      `${counted(series.periods.length, unit)}` +
      (series.undated ? `; ${counted(series.undated, "document")} without a date` : "");
    reading.textContent = told;
    rows.replaceChildren(
      ...series.rows.map((row) => timeRow(app, row, view.own ? row.top : all, view.measure)),
      axis(series.periods),
    );
    rows.onpointermove = (event) => {
      const at = periodAt(rows, event.clientX, series.periods.length);
      if (at < 0) return;
      const row = series.rows.find(({ id }) => hovered(event)?.dataset.group === String(id));
      reading.textContent = row
        ? `${series.periods[at]}: ${integer(row.counts[at])} of ` +
          `${counted(series.totals[at], "document")} in “${row.name}”`
        : told;
    };
    rows.onpointerleave = () => {
      reading.textContent = told;
    };
  };
  state.followAtRest(["tab", "step", "cut", "cluster", "node", "edited", "theme"], () => {
    if (state.now.tab === "time") draw();
  });
}

/** @param {PointerEvent} event */
function hovered(event) {
  const found = event.target instanceof Element ? event.target.closest(".time-row") : null;
  return found instanceof HTMLElement ? found : null;
}

/** @param {HTMLElement} rows @param {number} x @param {number} n */
function periodAt(rows, x, n) {
  const box = rows.querySelector(".time-row svg")?.getBoundingClientRect();
  if (!box || x < box.left || x >= box.right) return -1;
  return Math.min(n - 1, Math.floor(((x - box.left) / box.width) * n));
}

// Counts of each group, and what is drawn of them.
/**
 * @param {App} app @param {(string | null)[]} dates
 * @param {{ measure: Measure, reach: number }} view
 */
export function timeSeries(app, dates, { measure, reach }) {
  const { groups, labels } = app.groups();
  const ids = groups.map(({ id }) => id);
  const found = countPeriods(dates, labels, ids);
  const rows = groups.map((group, i) => {
    const counts = found.counts[i];
    const over = smoothed(found.totals, reach);
    const values = smoothed(counts, reach).map((value, at) =>
      measure === "count" ? value : value / (over[at] || 1),
    );
    const top = Math.max(...values, 0);
    return {
      id: group.id,
      name: group.name(),
      colour: group.colour,
      counts,
      values,
      top,
      peak: found.periods[values.indexOf(top)] ?? "",
    };
  });
  return { periods: found.periods, totals: found.totals, undated: found.undated, rows };
}

/**
 * @param {App} app @param {ReturnType<typeof timeSeries>["rows"][number]} row
 * @param {number} top @param {Measure} measure
 */
function timeRow(app, row, top, measure) {
  const path = makeSvg("path", { d: stepsPath(row.values, WIDE, HIGH, top) });
  path.style.fill = seenColour(row.colour);
  const most = measure === "count" ? decimals(row.top) : percent(row.top);
  const label = `${row.name}: most in ${row.peak}, ${most}`;
  const chosen = row.id === chosenId(app.state.now);
  return make(
    "div",
    { class: chosen ? "time-row chosen" : "time-row", "data-group": row.id },
    make(
      "button",
      {
        type: "button",
        class: "plain",
        title: row.name,
        on: { click: () => chooseGroup(app.state, app.groups(), row.id) },
      },
      bdi(row.name),
    ),
    makeSvg(
      "svg",
      {
        viewBox: `0 0 ${WIDE} ${HIGH}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": label,
      },
      path,
    ),
    make("span", { class: "peak number", title: label, text: `${most} in ${row.peak}` }),
  );
}

/** @param {number} value */
function decimals(value) {
  return Number.isInteger(value) ? integer(value) : value.toFixed(1);
}

/** @param {string[]} periods */
function axis(periods) {
  const n = periods.length;
  const most = matchMedia("(max-width: 760px)").matches ? TICKS / 4 : TICKS;
  const step = Math.max(1, Math.ceil(n / most));
  const ticks = periods.flatMap((period, i) => {
    if (i % step || i > 0.9 * n) return []; // the last ones would stick out
    const tick = make("span", { text: period });
    tick.style.left = `${(100 * i) / n}%`;
    return [tick];
  });
  return make(
    "div",
    { class: "time-row axis", "aria-hidden": "true" },
    make("span", {}),
    make("span", { class: "axis-ticks" }, ...ticks),
    make("span", {}),
  );
}
