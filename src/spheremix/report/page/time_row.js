// One group over time: a bar for each period, which can be pointed at, gone along and clicked.

import { bdi, make, makeSvg } from "./dom.js";
import { integer, percent } from "./format.js";
import { seenColour } from "./group_colours.js";
import { stepsPath } from "./time_drawing.js";

/** @import { Group } from "./types.d.ts" */

const WIDE = 1000;
const HIGH = 34;

/** @typedef {"count" | "share"} Measure */
/** @typedef {{ at: number, text: string }} Tick */
/**
 * @typedef {{ id: number, name: string, colour: Group["colour"], counts: number[],
 *   values: (number | null)[], top: number, peak: string }} Series
 */
/**
 * @typedef {{ periods: string[], totals: number[], ticks: Tick[], top: number, measure: Measure,
 *   chosen: boolean, choose: () => void, onPeriod: (at: number) => void,
 *   list: (at: number) => void }} TimeView
 */
/**
 * @typedef {{ element: HTMLElement, bars: HTMLElement, tell: (at: number) => void }} TimeRow
 */

/** @param {Series} row @param {TimeView} view @returns {TimeRow} */
export function timeRow(row, view) {
  const { periods, totals, measure } = view;
  const n = periods.length;
  const path = makeSvg("path", { d: stepsPath(row.values, WIDE, HIGH, view.top) });
  path.style.fill = seenColour(row.colour);
  const here = makeSvg("rect", { class: "here", y: 0, width: WIDE / n, height: HIGH });
  here.style.display = "none";
  const most = `${measure === "count" ? decimals(row.top) : percent(row.top)} in ${row.peak}`;
  const label = `${row.name}: most, ${most}`;
  const peak = make("span", { class: "peak number", title: label, text: most });
  const bars = make(
    "div",
    { class: "bars", role: "slider", tabindex: "0", "aria-label": label, "aria-valuemin": 0 },
    makeSvg(
      "svg",
      { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", "aria-hidden": "true" },
      path,
      ...view.ticks.map(({ at }) => {
        const x = (WIDE * at) / n;
        return makeSvg("line", { x1: x, x2: x, y1: 0, y2: HIGH });
      }),
      here,
    ),
  );
  let now = Math.max(0, periods.indexOf(row.peak)); // the period that the keyboard goes on from
  const value = () => {
    const said = `${periods[now]}: ${integer(row.counts[now])} of ${integer(totals[now])} documents`;
    bars.setAttribute("aria-valuenow", String(now));
    bars.setAttribute("aria-valuetext", said);
  };
  // A period, or none: -1.
  const tell = (/** @type {number} */ at) => {
    here.style.display = at < 0 ? "none" : "";
    view.onPeriod(at);
    if (at < 0) {
      peak.textContent = most;
      return;
    }
    now = at;
    here.setAttribute("x", String((WIDE * at) / n));
    const part = row.counts[at] / (totals[at] || 1);
    const amount = measure === "count" ? integer(row.counts[at]) : percent(part);
    peak.textContent = `${amount} in ${periods[at]}`;
    value();
  };
  bars.setAttribute("aria-valuemax", String(n - 1));
  value();
  const under = (/** @type {PointerEvent} */ { clientX }) => {
    const { left, width } = bars.getBoundingClientRect();
    return Math.max(0, Math.min(n - 1, Math.floor(((clientX - left) / width) * n)));
  };
  bars.addEventListener("pointermove", (event) => tell(under(event)));
  bars.addEventListener("pointerleave", () => tell(-1));
  bars.addEventListener("focus", () => tell(now));
  bars.addEventListener("blur", () => tell(-1));
  // A click lists what was told: its own place is rounded, and may be that of a neighbour.
  bars.addEventListener("pointerdown", (event) => tell(under(event)));
  bars.addEventListener("click", () => view.list(now));
  bars.addEventListener("keydown", (event) => {
    /** @type {Record<string, number>} */
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: n - 1 };
    if (event.key === "Enter") view.list(now);
    else if (Object.hasOwn(to, event.key)) tell(Math.max(0, Math.min(n - 1, to[event.key])));
    else return;
    event.preventDefault();
  });
  const name = make(
    "button",
    { type: "button", class: "plain", title: row.name, on: { click: view.choose } },
    bdi(row.name),
  );
  const element = make(
    "div",
    { class: view.chosen ? "time-row chosen" : "time-row", "data-group": row.id },
    name,
    bars,
    peak,
  );
  return { element, bars, tell };
}

/** @param {number} value */
function decimals(value) {
  return Number.isInteger(value) ? integer(value) : value.toFixed(1);
}

/** @param {Tick[]} ticks @param {number} n of the periods */
export function axis(ticks, n) {
  const marks = ticks.map(({ at, text }) => {
    const mark = make("span", { text: at > 0.96 * n ? "" : text }); // the last would stick out
    mark.style.left = `${(100 * at) / n}%`;
    return mark;
  });
  return make(
    "div",
    { class: "time-row axis", "aria-hidden": "true" },
    make("span", {}),
    make("span", { class: "axis-ticks" }, ...marks),
    make("span", {}),
  );
}
