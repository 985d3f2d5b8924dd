// All groups over time: a row each, as counts or as shares of a period, smoothed when asked.

import { UNFILTERED } from "../documents/filters.js";
import { chooseGroup, chosenId } from "../groups/grouping.js";
import { seenColour } from "../lib/colours.js";
import { bdi, find, make, makeSvg, reveal, segmented, selectOf, textButton } from "../lib/dom.js";
import { axisTicks, smoothed, stepsPath } from "../lib/drawing.js";
import { counted, countedRows, integer, percent } from "../lib/format.js";
import { countPeriods, daysOf, shareBounds } from "./counts.js";
import { effectParts, isTime } from "./effects.js";

/** @import { Amount, App, Content, Documents, Group } from "../types.d.ts" */

const TICK = 46; // pixels that a year needs on the axis
const BESIDE = { wide: 296, narrow: 180 }; // pixels of the name and the peak beside the bars
const LOW = 34; // pixels of a row, and where few groups leave room
const TALL = 120;
const BETWEEN = 12; // pixels between rows
const AROUND = 50; // pixels of the axis, and around all rows

/** @param {App} app */
export function mountTime(app) {
  const { state, content } = app;
  const { documents } = content;
  const box = find("time");
  if (!documents?.date) return;
  const unit = unitOf(periodsOf(content));
  const measures = segmented(
    "What is shown",
    /** @type {[Amount, string, string][]} */ ([
      ["count", "documents", `How many documents of the group in a ${unit}`],
      ["share", `share of the ${unit}`, `The share of the group among the documents of a ${unit}`],
    ]),
    (amount) => state.set({ amount }),
  );
  const scales = selectOf("time-scale", "Scale", SCALES, (value) =>
    state.set({ scale: value === "own" ? "own" : "one" }),
  );
  const reaches = reachesOf(content).map(
    (reach) => /** @type {[number, string]} */ ([reach, smoothingText(reach, unit)]),
  );
  const smooth = selectOf("smoothing", "Smoothing", reaches, (value) =>
    state.set({ smooth: value }),
  );
  const reading = make("p", { class: "soft", id: "time-reading" });
  const rows = make("div", { class: "time-rows" });
  const head = make(
    "div",
    { class: "time-head" },
    make("div", { class: "controls" }, measures.group, scales, smooth),
    reading,
  );
  const effects = make("div");
  box.replaceChildren(head, rows, effects);
  /** @type {Map<number, TimeRow>} */
  let shown = new Map();

  const draw = () => {
    const { amount, scale, smooth: reach } = state.now;
    measures.choose(amount);
    scales.value = scale;
    smooth.value = reach;
    const series = timeSeries(app, documents);
    const ends = `the first and the last ${Number(reach) > 1 ? `${reach} ${unit}s` : unit}`;
    const told =
      `${counted(series.periods.length, unit)}` +
      (series.undated ? `; ${countedRows(series.undated)} without a date` : "") +
      (Number(reach) ? `; ${ends} cannot be smoothed and are left out` : "") +
      `; click a ${unit} to list its documents`;
    reading.textContent = told;
    const narrow = matchMedia("(max-width: 760px)").matches;
    const room = rows.clientWidth - (narrow ? BESIDE.narrow : BESIDE.wide);
    const ticks = axisTicks(series.periods, Math.max(2, Math.floor(room / TICK)));
    // Few groups fill the height that there is.
    const high = (box.clientHeight - head.offsetHeight - AROUND) / series.rows.length - BETWEEN;
    rows.style.setProperty("--high", `${Math.round(Math.min(TALL, Math.max(LOW, high)))}px`);
    shown = new Map(
      series.rows.map((row) => [
        row.id,
        timeRow(row, {
          periods: series.periods,
          totals: series.totals,
          ticks,
          amount,
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
    effects.replaceChildren(...effectParts(app, isTime));
  };
  // The documents of the group in the period: what else was asked of the list is let go.
  const list = (
    /** @type {number} */ id,
    /** @type {string} */ period,
    /** @type {number} */ at,
  ) => {
    const isFocused = document.activeElement === shown.get(id)?.bars;
    chooseGroup(state, app.groups(), id, { ...UNFILTERED, ...daysOf(period), list: "all" });
    shown.get(id)?.tell(at);
    if (isFocused) shown.get(id)?.bars.focus();
  };
  const keys = /** @type {const} */ (["tab", "step", "cut", "group", "node", "edited", "theme"]);
  state.followAtRest([...keys, "amount", "scale", "smooth"], () => {
    if (state.now.tab !== "time") return;
    draw();
    const row = shown.get(chosenId(state.now))?.element;
    if (row) reveal(box, row, head.offsetHeight, row.offsetHeight);
  });
}

/** @type {["own" | "one", string][]} */
const SCALES = [
  ["own", "a scale each"],
  ["one", "one scale"],
];

/** @param {number} reach @param {string} unit */
function smoothingText(reach, unit) {
  return reach ? `smoothed over ${2 * reach + 1} ${unit}s` : "not smoothed";
}

/** Return the periods of the report. @param {Pick<Content, "documents">} content */
function periodsOf({ documents }) {
  return documents?.date ? countPeriods(documents, documents.group, []).periods : [];
}

/** @param {string[]} periods */
function unitOf([first]) {
  return first?.length === 4 ? "year" : "month";
}

/** Return how many neighbours a value may be smoothed over, on each side. @param {Content} content */
export function reachesOf(content) {
  const { length } = periodsOf(content);
  return [0, 1, 2, 5].filter((reach) => !reach || 2 * reach < length);
}

/** Return in words what the bars are. @param {App} app */
export function timeText({ content, state: { now } }) {
  const unit = unitOf(periodsOf(content));
  const amount = now.amount === "count" ? `documents per ${unit}` : `share of the ${unit}`;
  const scale = SCALES.find(([value]) => value === now.scale)?.[1];
  return [amount, scale, smoothingText(Number(now.smooth), unit)].join(", ");
}

/**
 * Return counts of each group, and what is drawn of them.
 * @param {App} app @param {Documents} documents
 */
export function timeSeries(app, documents) {
  const { amount, scale, smooth } = app.state.now;
  const reach = Number(smooth);
  const { groups, labels, nowhere } = app.groups();
  const ids = groups.map(({ id }) => id);
  const found = countPeriods(documents, labels, ids, nowhere?.id);
  const rows = groups.map((group, i) => {
    const counts = found.counts[i];
    const over = smoothed(found.totals, reach);
    const values = smoothed(counts, reach).map((value, at) =>
      amount === "count" || value === null ? value : value / (over[at] || 1),
    );
    const top = Math.max(...values.map((value) => value ?? 0), 0);
    // The peak of shares is where the interval begins highest: not in a few documents.
    const square = "squares" in found ? found.squares[i] : counts.reduce((a, b) => a + b, 0);
    const bounds = amount === "share" && !reach ? shareBounds(counts, found.totals, square) : null;
    const sure = bounds?.map(([low]) => low) ?? values;
    const peak = sure.indexOf(Math.max(...sure.map((value) => value ?? 0)));
    return {
      id: group.id,
      name: group.name(),
      colour: group.colour,
      counts,
      values,
      top,
      bounds,
      most: bounds ? (values[peak] ?? 0) : top,
      peak: found.periods[peak] ?? "",
    };
  });
  const highest = Math.max(...rows.map(({ top }) => top));
  if (scale === "one") for (const row of rows) row.top = highest;
  return { periods: found.periods, totals: found.totals, undated: found.undated, rows };
}

// One group over time: a bar for each period, which can be pointed at, gone along and clicked.

const WIDE = 1000;
const HIGH = 34;

/** @typedef {{ at: number, text: string }} Tick */
/**
 * @typedef {{ id: number, name: string, colour: Group["colour"], counts: number[],
 *   values: (number | null)[], top: number, most: number, peak: string,
 *   bounds: [number, number][] | null }} Series
 */
/**
 * @typedef {{ periods: string[], totals: number[], ticks: Tick[], amount: Amount,
 *   chosen: boolean, choose: () => void, onPeriod: (at: number) => void,
 *   list: (at: number) => void }} TimeView
 */
/**
 * @typedef {{ element: HTMLElement, bars: HTMLElement, tell: (at: number) => void }} TimeRow
 */

/** @param {Series} row @param {TimeView} view @returns {TimeRow} */
export function timeRow(row, view) {
  const { periods, totals, amount } = view;
  const n = periods.length;
  const path = makeSvg("path", { d: stepsPath(row.values, WIDE, HIGH, row.top) });
  path.style.fill = seenColour(row.colour);
  const here = makeSvg("rect", { class: "here", y: 0, width: WIDE / n, height: HIGH });
  here.style.display = "none";
  const most = peakText(row, periods, amount);
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
    const many =
      amount === "count" ? integer(row.counts[at]) : `${percent(part)}${between(row, at)}`;
    peak.textContent = `${many} in ${periods[at]}`;
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
  const name = textButton(bdi(row.name), view.choose, { title: row.name });
  const element = make(
    "div",
    { class: view.chosen ? "time-row chosen" : "time-row", "data-group": row.id },
    name,
    bars,
    peak,
  );
  return { element, bars, tell };
}

/** Return where the group has most. @param {Series} row @param {string[]} periods @param {Amount} amount */
export function peakText(row, periods, amount) {
  const most = amount === "count" ? decimals(row.most) : percent(row.most);
  return `${most}${between(row, periods.indexOf(row.peak))} in ${row.peak}`;
}

/** Return the ends of the interval of a share, in percent. @param {Series} row @param {number} at */
function between({ bounds }, at) {
  if (!bounds?.[at]) return "";
  const [low, high] = bounds[at].map((one) => Math.round(100 * one));
  return ` (${low} to ${high})`;
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
