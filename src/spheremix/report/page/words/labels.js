// Text on the maps of words: numbers of words above, names of rows, words where there is room.

import { readable, seenColour } from "../lib/colours.js";
import { integer, nounOf } from "../lib/format.js";
import { groupsOf } from "./steps.js";
import { characteristicWords, onlyHereWords } from "./words.js";

/** @import { Colours, Columns, Context, Group, Row, View } from "../types.d.ts" */

export const HEAD = 38; // pixels above the rows
const FONT = "system-ui, sans-serif";
const LINE = 1.15; // between lines of a name, in sizes of its letters

/** @param {Pick<Context, "measureText">} context @param {string} text @param {number} width */
function fitText(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let short = [...text].slice(0, Math.max(0, Math.floor(width / 4)));
  while (short.length > 1 && context.measureText(`${short.join("")}…`).width > width) {
    short = short.slice(0, -1);
  }
  return short.length > 1 ? `${short.join("").trimEnd()}…` : "";
}

/**
 * Return the lines of a name, as many as the row has room for; only the last one is cut.
 * @param {Pick<Context, "measureText">} context @param {string} name @param {number} width
 * @param {number} height of the row @param {number} size of the letters
 */
export function nameLines(context, name, width, height, size) {
  const room = Math.max(1, Math.floor(height / (LINE * size)));
  const words = name.split(" ");
  const lines = [];
  while (words.length && lines.length < room - 1) {
    let n = 1;
    while (n < words.length && context.measureText(words.slice(0, n + 1).join(" ")).width <= width)
      n++;
    lines.push(fitText(context, words.splice(0, n).join(" "), width));
  }
  return words.length ? [...lines, fitText(context, words.join(" "), width)] : lines;
}

/** @param {number} count @param {number} K @param {number} number @param {string} noun */
function groupTexts(count, K, number, noun) {
  const words = integer(number);
  if (count === 0) return [`no group: ${words}`, "none", "0"];
  if (count === K && K > 1)
    return [`all ${K} groups: ${words} ${noun}`, `all ${K}: ${words}`, "all"];
  if (count === 1) return [`${noun} of one group: ${words}`, `one group: ${words}`, "1"];
  if (count === 2) return [`pairs of groups: ${words} ${noun}`, `pairs: ${words}`, "2"];
  return [`${count} groups: ${words} ${noun}`, `${count}: ${words}`, `${count}`];
}

const BRACKET = 18; // pixels from the top
const NARROW = 10; // pixels of a bracket below which it has no ends

// Draw a bracket for each number of groups that share, and the name of each group above its own words.
/** @param {Context} context @param {View} view */
export function drawLabels(context, view) {
  const { content, step, columns, colours, height } = view;
  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  for (const { start, stop, count } of groupsOf(step)) {
    const [left, right] = clipped(columns, start, stop);
    if (right - left < 0.5) continue;
    const isWide = right - left >= NARROW;
    context.fillStyle = count === 0 ? colours.line : count === 1 ? colours.ink : colours.soft;
    context.fillRect(left, BRACKET, Math.max(1, right - left - 2), count === 1 ? 2 : 1);
    if (isWide) {
      context.fillRect(left, BRACKET, 1, 5);
      context.fillRect(right - 3, BRACKET, 1, 5);
    }
    context.font = `12px ${FONT}`;
    context.fillStyle = colours.ink;
    const number = step.entry.n_words_by_groups[count];
    const text = groupTexts(count, step.K, number, `${nounOf(content)}s`).find(
      (one) => context.measureText(one).width <= right - left - 4,
    );
    if (text) context.fillText(text, left + 1, 12);
    if (isWide && columns.x(start) > columns.left) {
      context.fillStyle = colours.line;
      context.fillRect(Math.round(columns.x(start)) - 1, BRACKET + 5, 1, height - BRACKET - 5);
    }
  }
  drawOwners(context, view);
}

/**
 * @param {Columns} columns @param {number} start @param {number} stop
 * @returns {[number, number]}
 */
function clipped(columns, start, stop) {
  return [Math.max(columns.left, columns.x(start)), Math.min(columns.right, columns.x(stop))];
}

/** @param {Context} context @param {View} view */
function drawOwners(context, { content, step, columns, colours, groupOf }) {
  context.font = `11px ${FONT}`;
  for (const { start, stop, count, groups } of step.blocks) {
    if (count !== 1 || step.K === 1) continue;
    const [left, right] = clipped(columns, start, stop);
    if (right - left < 26) continue;
    context.fillStyle = inkOf(groupOf(groups[0]), colours);
    context.fillText(fitText(context, content.names[groups[0]], right - left - 6), left + 2, 33);
  }
}

/** Return the colour of the name of a group. @param {Group} group @param {Colours} colours */
function inkOf({ colour }, { ground }) {
  return readable(seenColour(colour), ground);
}

/** @param {Context} context @param {View} view @param {number} chosen */
export function drawRowNames(context, { content, rows, gutter, colours, groupOf }, chosen) {
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const { k, y, height } of rows) {
    const group = groupOf(k);
    if (group.id === chosen) {
      context.fillStyle = colours.ink;
      context.fillRect(gutter - 4, y, 3, height);
    }
    if (height < 8) continue;
    const size = Math.max(8, Math.min(12, Math.floor(0.85 * height)));
    context.font = `${group.id === chosen ? "600 " : ""}${size}px ${FONT}`;
    context.fillStyle = inkOf(group, colours);
    const lines = nameLines(context, content.names[k], gutter - 14, height, size);
    const top = y + height / 2 - ((lines.length - 1) * LINE * size) / 2;
    lines.forEach((line, i) => context.fillText(line, gutter - 8, top + i * LINE * size));
  }
  context.textAlign = "left";
  context.fillStyle = colours.line;
  for (const { y, height } of rows) {
    if (height >= 16) context.fillRect(0, Math.round(y), gutter - 4, 1);
  }
}

/** @param {Context} context @param {View} view */
export function drawWordsBelow(context, { content, step, columns, rows, colours }) {
  const last = rows[rows.length - 1];
  const top = last.y + last.height + 4;
  context.font = `11px ${FONT}`;
  context.fillStyle = colours.ink;
  context.textBaseline = "middle";
  const first = Math.max(0, Math.floor(columns.place(columns.left)));
  const stop = Math.min(step.W, Math.ceil(columns.place(columns.right)));
  for (let place = first; place < stop; place++) {
    const x = columns.x(place + 0.5);
    if (columns.x(place + 1) - columns.x(place) < 9 || x < columns.left) continue;
    context.save();
    context.translate(x, top);
    context.rotate(Math.PI / 2);
    context.fillText(fitText(context, content.words[step.order[place]], 78), 0, 0);
    context.restore();
  }
}

// The heavy words of each group, written on the map where their columns are.

const WORD_LINE = 13; // pixels
const MOST = 40; // words of a row that are tried

/** @typedef {{ left: number, right: number }} Taken */

// Write as many words as there is room for, the most characteristic first; each begins at its
// column, or ends there where the map ends.
/** @param {Context} context @param {View} view */
export function drawHeavyWords(context, view) {
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const row of view.rows) {
    const n = Math.floor(row.height / WORD_LINE);
    if (n < 1) continue;
    const top = row.y + (row.height - n * WORD_LINE) / 2 + WORD_LINE / 2;
    /** @type {Taken[][]} */
    const lines = Array.from({ length: n }, () => []);
    wordsOf(view, row).forEach((j, rank) => {
      context.font = `${rank < 5 ? "600 " : ""}11px ${FONT}`;
      writeWord(context, view, row, j, lines, top);
    });
  }
}

/** @param {View} view @param {Row} row */
function wordsOf({ content, step }, { k }) {
  const first = characteristicWords(content, step, k, MOST / 2);
  const own = step.K > 1 ? onlyHereWords(content, step, k, MOST / 2) : [];
  return [...new Set([...first, ...own])];
}

/**
 * @param {Context} context @param {View} view @param {Row} row @param {number} j
 * @param {Taken[][]} lines @param {number} top
 */
function writeWord(context, { content, step, columns, colours, groupOf }, { k }, j, lines, top) {
  const x = columns.x(step.places[j] + 0.5);
  if (x < columns.left || x > columns.right) return;
  const word = content.words[j];
  const wide = context.measureText(word).width;
  const left = x + wide + 6 > columns.right ? x - wide - 3 : x + 3;
  if (left < columns.left || wide > 160) return;
  const line = lines.findIndex((taken) =>
    taken.every((one) => left + wide + 5 < one.left || left - 5 > one.right),
  );
  if (line < 0) return;
  lines[line].push({ left: Math.min(left, x), right: Math.max(left + wide, x) });
  const y = top + line * WORD_LINE;
  context.globalAlpha = 0.78;
  context.fillStyle = colours.ground;
  context.fillRect(left - 1, y - 6, wide + 2, 12);
  context.globalAlpha = 1;
  context.fillStyle = seenColour(groupOf(k).colour);
  context.fillRect(x - 1, y - 5, 2, 10);
  context.fillStyle = colours.ink;
  context.fillText(word, left, y);
}
