// How the documents of groups spread over labels and over time.

import { eachShare } from "../documents/shares.js";

/** @import { Cells, Counted, Documents, LabelColumn, Labels } from "../types.d.ts" */

const YEARS_FROM = 240; // months: from there on, time is counted in years

/** @typedef {{ place: number, share: number, lost: boolean }} Part */

/**
 * Return which groups the documents of each stratum are in: a place in the list, and a share. Groups
 * made of strata have all of them; of others, a sample says how many.
 * @param {Counted} counted @param {Labels} groups @param {number[]} ids @param {number} [nowhere]
 */
export function partsOf({ of, sizes }, groups, ids, nowhere) {
  const places = placesOf(ids);
  const sampled = new Float64Array(sizes.length);
  const found = Array.from(sizes, () => /** @type {Map<number, number>} */ (new Map()));
  of.forEach((stratum, i) => {
    sampled[stratum]++;
    found[stratum].set(groups[i], (found[stratum].get(groups[i]) ?? 0) + 1);
  });
  return found.map((own, stratum) =>
    Array.from(own, ([group, n]) => {
      const place = places[group] ?? -1;
      return /** @type {Part} */ ({ place, share: n / sampled[stratum], lost: group === nowhere });
    }),
  );
}

/**
 * Return how many documents each group has, by its id.
 * @param {Pick<Documents, "counted"> | null} documents @param {Labels} groups
 */
export function sizesOf(documents, groups) {
  /** @type {Map<number, number>} */
  const sizes = new Map();
  const counted = documents?.counted;
  if (!counted) {
    for (const id of groups) sizes.set(id, (sizes.get(id) ?? 0) + 1);
    return sizes;
  }
  const ids = [...new Set(groups)];
  partsOf(counted, groups, ids).forEach((own, stratum) => {
    for (const { place, share } of own) {
      const id = ids[place];
      sizes.set(id, (sizes.get(id) ?? 0) + share * counted.sizes[stratum]);
    }
  });
  return sizes;
}

/**
 * Return how the documents of each group spread over the labels of all columns. One that was split
 * counts in each group for its share.
 * @param {Pick<Documents, "labels" | "label_names"> & Partial<Documents>} documents
 * @param {Labels} groups @param {number[]} ids of the groups
 * @param {number} [nowhere] of documents that count in no total
 */
export function countLabels(documents, groups, ids, nowhere) {
  const { label_names: names, passages, counted } = documents;
  const { labels } = passages ?? documents;
  const n = names?.length ?? 0;
  const places = placesOf(ids);
  const counts = ids.map(() => new Float64Array(n));
  const totals = new Float64Array(n);
  const sizes = new Float64Array(ids.length);
  if (counted?.labels && !passages) {
    const parts = partsOf(counted, groups, ids, nowhere);
    parts.forEach((own, stratum) => {
      for (const { place, share } of own)
        if (place >= 0) sizes[place] += share * counted.sizes[stratum];
    });
    counted.labels.stratum.forEach((stratum, i) => {
      const { n: many, value } = /** @type {Cells} */ (counted.labels);
      for (const { place, share, lost } of parts[stratum]) {
        if (!lost) totals[value[i]] += share * many[i];
        if (place >= 0) counts[place][value[i]] += share * many[i];
      }
    });
    return { counts, totals, sizes };
  }
  eachShare(documents, groups, (i, id, share) => {
    const at = places[id] ?? -1;
    if (at >= 0) sizes[at] += share;
    for (const label of labels?.[i] ?? []) {
      if (id !== nowhere) totals[label] += share;
      if (at >= 0) counts[at][label] += share;
    }
  });
  return { counts, totals, sizes };
}

/** Return the place in a list by the id of a group: -1 where it has none. @param {number[]} ids */
export function placesOf(ids) {
  const places = new Int32Array(Math.max(...ids, 0) + 1).fill(-1);
  ids.forEach((id, place) => (places[id] = place));
  return places;
}

// Return the labels of a column that a group has, the most frequent first.
/** @param {ArrayLike<number>} inside @param {Pick<LabelColumn, "start" | "stop">} column */
export function labelOrder(inside, { start, stop }) {
  return Array.from({ length: stop - start }, (_, i) => start + i)
    .filter((label) => inside[label] > 0)
    .sort((a, b) => inside[b] - inside[a] || a - b);
}

/**
 * Return, for every period from the first to the last without gaps, how many documents of each
 * group and of all groups there are. One that was split counts in each group for its share. Squares
 * are sums over the dated documents of the square of their share of each group.
 * @param {Pick<Documents, "date"> & Partial<Documents>} documents @param {Labels} groups @param {number[]} ids
 * @param {number} [nowhere] of documents that count in no total
 */
export function countPeriods(documents, groups, ids, nowhere) {
  const { passages, counted } = documents;
  if (counted?.dates && !passages) return countCells(counted, counted.dates, groups, ids, nowhere);
  const { periods, of, undated } = periodsOf((passages ?? documents).date ?? []);
  const zeros = () => /** @type {number[]} */ (new Array(periods.length).fill(0));
  const counts = ids.map(zeros);
  const totals = zeros();
  const places = placesOf(ids);
  const squares = new Float64Array(ids.length);
  eachShare(documents, groups, (i, id, share) => {
    if (!(of[i] >= 0)) return;
    if (id !== nowhere) totals[of[i]] += share;
    const place = places[id] ?? -1;
    if (place < 0) return;
    counts[place][of[i]] += share;
    squares[place] += share ** 2;
  });
  return { periods, counts, totals, squares, undated };
}

const Z2 = 1.959964 ** 2; // of a normal interval of 95 %
const LEAST_RATIO = 1e-3;

/**
 * Return the ends of the 95 % interval of the share of a group in each period, as in tables/time.csv: that of
 * Wilson, for as many documents as there are, or more where their shares differ less than by chance.
 * @param {number[]} counts @param {number[]} totals @param {number} square
 */
export function shareBounds(counts, totals, square) {
  const shares = counts.map((one, p) => (totals[p] ? one / totals[p] : 0));
  const sum = (/** @type {(p: number) => number} */ of) =>
    totals.reduce((all, _, p) => all + of(p), 0);
  const all = sum((p) => totals[p]);
  const free = all - totals.filter((one) => one > 0).length;
  const chance = (sum((p) => totals[p] * shares[p] * (1 - shares[p])) * free) / Math.max(all, 1);
  const spread = square - sum((p) => totals[p] * shares[p] ** 2);
  const ratio = chance > 0 ? Math.min(1, Math.max(LEAST_RATIO, spread / chance)) : 1;
  return shares.map((share, p) => {
    const weight = (Z2 * ratio) / Math.max(totals[p], LEAST_RATIO);
    const middle = (share + weight / 2) / (1 + weight);
    const half = Math.sqrt(weight * share * (1 - share) + weight ** 2 / 4) / (1 + weight);
    return /** @type {[number, number]} */ ([
      Math.max(middle - half, 0),
      Math.min(middle + half, 1),
    ]);
  });
}

/**
 * @param {Counted} counted @param {NonNullable<Counted["dates"]>} dates @param {Labels} groups
 * @param {number[]} ids @param {number} [nowhere]
 */
function countCells(counted, { names, stratum, value, n }, groups, ids, nowhere) {
  const { periods, of } = periodsOf(names);
  const zeros = () => /** @type {number[]} */ (new Array(periods.length).fill(0));
  const counts = ids.map(zeros);
  const totals = zeros();
  const parts = partsOf(counted, groups, ids, nowhere);
  let undated = 0;
  value.forEach((name, i) => {
    const at = of[name];
    if (at < 0) undated += n[i];
    else
      for (const { place, share, lost } of parts[stratum[i]]) {
        if (!lost) totals[at] += share * n[i];
        if (place >= 0) counts[place][at] += share * n[i];
      }
  });
  return { periods, counts, totals, undated };
}

// Return the first and the last day of a month or a year, as the filters have them.
/** @param {string} period */
export function daysOf(period) {
  if (period.length === 4) return { from: `${period}-01-01`, to: `${period}-12-31` };
  const [year, month] = period.split("-").map(Number);
  // Leap years come again after 2000 years, and a browser takes year 98 for 1998.
  const last = new Date(Date.UTC(year + 2000, month, 0)).getUTCDate();
  return { from: `${period}-01`, to: `${period}-${last}` };
}

// Dates are many, and always the same ones.
/** @type {WeakMap<(string | null)[], ReturnType<typeof readPeriods>>} */
const read = new WeakMap();

/** @param {(string | null)[]} dates */
function periodsOf(dates) {
  const found = read.get(dates) ?? readPeriods(dates);
  read.set(dates, found);
  return found;
}

// Return the periods, and the place of each document among them; -1: it has no date.
/** @param {(string | null)[]} dates */
function readPeriods(dates) {
  const months = dates.map(monthOf);
  const known = months.filter((month) => month !== null);
  const of = new Int32Array(dates.length).fill(-1);
  const undated = dates.length - known.length;
  if (!known.length) return { periods: [], of, undated };
  const low = known.reduce((a, b) => Math.min(a, b));
  const high = known.reduce((a, b) => Math.max(a, b));
  // The month of a year is not known.
  const years = dates.some((date, i) => months[i] !== null && date?.length === 4);
  const unit = years || high - low >= YEARS_FROM ? 12 : 1;
  const first = Math.floor(low / unit);
  const n = Math.floor(high / unit) - first + 1;
  months.forEach((month, i) => {
    if (month !== null) of[i] = Math.floor(month / unit) - first;
  });
  const periods = Array.from({ length: n }, (_, i) => periodName(first + i, unit));
  return { periods, of, undated };
}

// Return months since the year 0; null where a document has no date, or none that can be read.
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
