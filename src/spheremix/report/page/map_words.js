// The heavy words of each group, written on the map where their columns are.

import { characteristicWords, onlyHereWords } from "./words.js";

/** @import { Context, Row, View } from "./types.d.ts" */

const LINE = 13; // pixels
const MOST = 40; // words of a row that are tried
const FONT = "system-ui, sans-serif";

/** @typedef {{ left: number, right: number }} Taken */

// As many words as there is room for, the most characteristic first; each begins at its column, or
// ends there where the map ends.
/** @param {Context} context @param {View} view */
export function drawHeavyWords(context, view) {
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const row of view.rows) {
    const n = Math.floor(row.height / LINE);
    if (n < 1) continue;
    const top = row.y + (row.height - n * LINE) / 2 + LINE / 2;
    /** @type {Taken[][]} */
    const lines = Array.from({ length: n }, () => []);
    wordsOf(view, row).forEach((j, rank) => {
      context.font = `${rank < 5 ? "600 " : ""}11px ${FONT}`;
      place(context, view, j, lines, top);
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
 * @param {Context} context @param {View} view @param {number} j @param {Taken[][]} lines
 * @param {number} top
 */
function place(context, { content, step, columns, colours, hues }, j, lines, top) {
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
  const y = top + line * LINE;
  context.globalAlpha = 0.78;
  context.fillStyle = colours.ground;
  context.fillRect(left - 1, y - 6, wide + 2, 12);
  context.globalAlpha = 1;
  context.fillStyle = hues[step.counts[j]];
  context.fillRect(x - 1, y - 5, 2, 10);
  context.fillStyle = colours.ink;
  context.fillText(word, left, y);
}
