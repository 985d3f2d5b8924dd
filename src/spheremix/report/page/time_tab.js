// All groups over time: a row each, as counts or as shares of a period, smoothed when asked.

import { find, make, reveal, segmented } from "./dom.js";
import { counted, integer } from "./format.js";
import { chooseGroup, chosenId } from "./grouping.js";
import { countPeriods, daysOf } from "./distribution.js";
import { axisTicks, smoothed } from "./time_drawing.js";
import { axis, timeRow } from "./time_row.js";

/** @import { App } from "./types.d.ts" */
/** @import { Measure, TimeRow } from "./time_row.js" */

const TICKS = 16; // years

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
  const first = countPeriods(dates, app.groups().labels, []);
  const unit = first.periods[0]?.length === 4 ? "year" : "month";
  const measures = segmented(
    "What is shown",
    /** @type {[Measure, string, string][]} */ ([
      ["count", "documents", `How many documents of the group in a ${unit}`],
      [
        "share",
        `share of all documents of the ${unit}`,
        `The share of the group among the documents of a ${unit}`,
      ],
    ]),
    (measure) => redraw({ measure }),
  );
  const smooth = make("select", { "aria-label": "Smoothing", id: "smoothing" });
  const scales = make("select", { "aria-label": "Scale", id: "time-scale" });
  scales.append(
    make("option", { value: "own", text: "a scale for each group" }),
    make("option", { value: "one", text: "one scale for all" }),
  );
  smooth.append(
    ...[0, 1, 2, 5]
      .filter((reach) => !reach || 2 * reach < first.periods.length)
      .map((reach) =>
        make("option", {
          value: reach,
          text: reach ? `smoothed over ${2 * reach + 1} ${unit}s` : "not smoothed",
        }),
      ),
  );
  smooth.addEventListener("change", () => redraw({ reach: Number(smooth.value) }));
  scales.addEventListener("change", () => redraw({ own: scales.value === "own" }));
  const reading = make("p", { class: "soft", id: "time-reading" });
  const rows = make("div", { class: "time-rows" });
  const head = make(
    "div",
    { class: "time-head" },
    make("div", { class: "controls" }, measures.group, scales, smooth),
    reading,
  );
  box.replaceChildren(head, rows);
  /** @type {Map<number, TimeRow>} */
  let shown = new Map();

  const draw = () => {
    measures.choose(view.measure);
    const series = timeSeries(app, dates, view);
    const all = Math.max(...series.rows.map(({ top }) => top));
    const ends = `the first and the last ${view.reach > 1 ? `${view.reach} ${unit}s` : unit}`;
    const told =
      `${counted(series.periods.length, unit)}` +
      (series.undated ? `; ${counted(series.undated, "document")} without a date` : "") +
      (view.reach ? `; ${ends} cannot be smoothed and are left out` : "") +
      `; click a ${unit} to list its documents`;
    reading.textContent = told;
    const narrow = matchMedia("(max-width: 760px)").matches;
    const ticks = axisTicks(series.periods, narrow ? TICKS / 4 : TICKS);
    shown = new Map(
      series.rows.map((row) => [
        row.id,
        timeRow(row, {
          periods: series.periods,
          totals: series.totals,
          ticks,
          top: view.own ? row.top : all,
          measure: view.measure,
          chosen: row.id === chosenId(state.now),
          choose: () => chooseGroup(state, app.groups(), row.id),
          onPeriod: (at) => {
            reading.textContent =
              at < 0
                ? told
                : `${series.periods[at]}: ${integer(row.counts[at])} of ` +
                  `${counted(series.totals[at], "document")} in “${row.name}”`;
          },
          list: (at) => list(row.id, series.periods[at], at),
        }),
      ]),
    );
    rows.replaceChildren(
      ...[...shown.values()].map(({ element }) => element),
      axis(ticks, series.periods.length),
    );
  };
  // The documents of the group in the period: what else was asked of the list is let go.
  const list = (
    /** @type {number} */ id,
    /** @type {string} */ period,
    /** @type {number} */ at,
  ) => {
    const isFocused = document.activeElement === shown.get(id)?.bars;
    app.lasso.set([]);
    chooseGroup(state, app.groups(), id, {
      ...daysOf(period),
      ...{ scope: "cluster", text: "", label: -1 },
    });
    shown.get(id)?.tell(at);
    if (isFocused) shown.get(id)?.bars.focus();
  };
  state.followAtRest(["tab", "step", "cut", "cluster", "node", "edited", "theme"], () => {
    if (state.now.tab !== "time") return;
    draw();
    const row = shown.get(chosenId(state.now))?.element;
    if (row) reveal(box, row, head.offsetHeight, row.offsetHeight);
  });
}

// Counts of each group, and what is drawn of them.
/**
 * @param {App} app @param {(string | null)[]} dates
 * @param {{ measure: Measure, reach: number }} view
 */
export function timeSeries(app, dates, { measure, reach }) {
  const { groups, labels, nowhere } = app.groups();
  const ids = groups.map(({ id }) => id);
  const found = countPeriods(dates, labels, ids, nowhere?.id);
  const rows = groups.map((group, i) => {
    const counts = found.counts[i];
    const over = smoothed(found.totals, reach);
    const values = smoothed(counts, reach).map((value, at) =>
      measure === "count" || value === null ? value : value / (over[at] || 1),
    );
    const top = Math.max(...values.map((value) => value ?? 0), 0);
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
