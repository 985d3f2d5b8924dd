// What the groups depend on: their shares at the values of a column, with intervals, where this was asked for.

import { chooseGroup } from "../groups/grouping.js";
import { seenColour } from "../lib/colours.js";
import { bdi, make, makeSvg, textButton } from "../lib/dom.js";
import { counted, percent } from "../lib/format.js";

/** @import { App, EffectColumn, Group } from "../types.d.ts" */

const TIMES = ["date", "year"]; // columns that the tab Time shows
const WIDE = 1000;
const HIGH = 50;

/** @param {Pick<EffectColumn, "name" | "kind">} column */
export function isTime({ name, kind }) {
  return kind === "date" || (kind === "number" && TIMES.includes(name));
}

/**
 * Return what the groups depend on, of the columns that a tab shows; nothing where none was asked for.
 * @param {App} app @param {(column: EffectColumn) => boolean} shown
 */
export function effectParts(app, shown) {
  const { effects } = app.content;
  const columns = effects?.columns.filter(shown) ?? [];
  if (!effects || !columns.length) return [];
  const { exact, groups } = app.groups();
  if (!exact)
    return [softly("Effects are of the groups of the model: choose its number of groups.")];
  const others = effects.columns.length > 1 ? " The other columns are held." : "";
  return columns.map((column) => {
    const top = Math.max(...column.high.flat().map((one) => one ?? 0), 0.01);
    const told = groups.filter(({ id }) => !effects.unstable.includes(id));
    const left = groups.filter(({ id }) => effects.unstable.includes(id));
    return make(
      "section",
      { class: "effects" },
      make("h3", {}, "Shares by ", bdi(column.name)),
      softly(
        `Of ${counted(effects.n_documents, "document")}, with 95 % intervals from ` +
          `${effects.n_draws} draws of the documents.${others}`,
      ),
      make("ul", {}, ...column.sentences.map((text) => make("li", {}, bdi(text)))),
      ...told.map((group) => groupEffects(app, column, group, top)),
      left.length
        ? softly(`Not stable, so nothing is told: ${left.map((one) => one.name()).join(", ")}.`)
        : "",
    );
  });
}

/** @param {string} text */
function softly(text) {
  return make("p", { class: "soft", text });
}

/** @param {App} app @param {EffectColumn} column @param {Group} group @param {number} top */
function groupEffects(app, column, group, top) {
  const choose = () => chooseGroup(app.state, app.groups(), group.id);
  const name = textButton(bdi(group.name()), choose, { title: group.name() });
  const drawn = column.kind === "label" ? points(column, group, top) : curve(column, group, top);
  return make("div", { class: "effect-row" }, name, drawn);
}

/** Return a share with its interval, as text. @param {EffectColumn} column @param {number} v @param {number} k */
export function shareText({ shares, low, high }, v, k) {
  const [share, least, most] = [shares, low, high].map((all) => all[v][k] ?? 0);
  return `${percent(share)} (${Math.round(100 * least)} to ${Math.round(100 * most)})`;
}

/** @param {EffectColumn} column @param {Group} group @param {number} top */
function points(column, group, top) {
  const { values, n_documents: n, shares, low, high } = column;
  const lines = values.map((value, v) => {
    const [share, least, most] = [shares, low, high].map(
      (all) => (100 * (all[v][group.id] ?? 0)) / top,
    );
    const bar = make("span", { class: "effect-bar" });
    const dot = make("span", { class: "effect-dot" });
    bar.style.insetInlineStart = `${least}%`;
    bar.style.width = `${most - least}%`;
    dot.style.insetInlineStart = `${share}%`;
    for (const one of [bar, dot]) one.style.background = seenColour(group.colour);
    return make(
      "div",
      { class: "effect-line", title: counted(n[v], "document") },
      bdi(value, { class: "effect-value" }),
      make("span", { class: "effect-track", "aria-hidden": "true" }, bar, dot),
      make("span", { class: "number soft", text: shareText(column, v, group.id) }),
    );
  });
  return make("div", {}, ...lines);
}

/** @param {EffectColumn} column @param {Group} group @param {number} top */
function curve(column, group, top) {
  const { values, shares, low, high } = column;
  const last = values.length - 1;
  const place = (/** @type {(number | null)[][]} */ all, /** @type {number} */ v) =>
    `${((WIDE * v) / last).toFixed(1)},${(HIGH * (1 - (all[v][group.id] ?? 0) / top)).toFixed(1)}`;
  const places = values.map((_, v) => v);
  const band = [
    ...places.map((v) => place(high, v)),
    ...places.toReversed().map((v) => place(low, v)),
  ];
  const area = makeSvg("polygon", { points: band.join(" "), opacity: 0.25 });
  const line = makeSvg("polyline", { points: places.map((v) => place(shares, v)).join(" ") });
  area.style.fill = line.style.stroke = seenColour(group.colour);
  const ends = [0, last].map((v) => `${values[v]}: ${shareText(column, v, group.id)}`);
  return make(
    "div",
    {},
    makeSvg(
      "svg",
      { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", "aria-hidden": "true" },
      area,
      line,
    ),
    make("p", { class: "soft effect-ends" }, ...ends.map((text) => make("span", { text }))),
  );
}
