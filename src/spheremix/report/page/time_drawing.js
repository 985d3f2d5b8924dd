// Numbers over time as areas: every period is seen, however many there are.

import { makeSvg } from "./dom.js";

// A step for each period, from the ground up; what has no value lies on the ground.
/** @param {(number | null)[]} values @param {number} width @param {number} height @param {number} top */
export function stepsPath(values, width, height, top) {
  const wide = width / values.length;
  let path = `M0,${height}`;
  values.forEach((value, i) => {
    const y = (height * (1 - (value ?? 0) / (top || 1))).toFixed(2);
    path += `L${(i * wide).toFixed(2)},${y}L${((i + 1) * wide).toFixed(2)},${y}`;
  });
  return `${path}L${width},${height}Z`;
}

// More periods than pixels: each pixel shows the largest of its periods, so that none is lost.
/** @param {number[]} values @param {number} most */
export function largestOf(values, most) {
  if (values.length <= most) return values;
  return Array.from({ length: most }, (_, i) => {
    const from = Math.floor((i * values.length) / most);
    const to = Math.max(from + 1, Math.floor(((i + 1) * values.length) / most));
    return Math.max(...values.slice(from, to));
  });
}

// The mean of each value with its neighbours on both sides. Those at the ends lack some of them: a mean
// of fewer would be higher or lower for no reason of theirs, so they have none.
/** @param {number[]} values @param {number} reach @returns {(number | null)[]} */
export function smoothed(values, reach) {
  return values.map((_, i) => {
    if (i < reach || i + reach >= values.length) return null;
    const near = values.slice(i - reach, i + reach + 1);
    return near.reduce((sum, value) => sum + value, 0) / near.length;
  });
}

const ROUND = [1, 2, 5, 10, 20, 50, 100, 200, 500]; // years between two marks of the axis

// Where the axis is marked: at the beginnings of years, or at some of the months of one year.
/** @param {string[]} periods @param {number} most marks of years; of months, half as many */
export function axisTicks(periods, most) {
  const all = periods.map((period, at) => ({ at, text: period }));
  const years = all
    .filter(({ text }) => text.length === 4 || text.endsWith("-01"))
    .map(({ at, text }) => ({ at, text: text.slice(0, 4) }));
  if (years.length > 1) {
    const step = ROUND.find((one) => years.length / one <= most) ?? 1000;
    return years.filter(({ text }) => Number(text) % step === 0);
  }
  const every = Math.max(1, Math.ceil((2 * all.length) / most));
  return all.filter(({ at }) => at % every === 0);
}

const WIDE = 64;
const HIGH = 16;

/** @param {number[]} values */
export function sparkline(values) {
  const seen = largestOf(values, WIDE);
  return makeSvg(
    "svg",
    { class: "spark", viewBox: `0 0 ${WIDE} ${HIGH}`, "aria-hidden": "true" },
    makeSvg("path", { d: stepsPath(seen, WIDE, HIGH, Math.max(...seen)) }),
  );
}
