// What is pointed at or searched for, on a canvas above the map.

/** @import { Columns, Context, Now, Row, Target, View } from "./types.d.ts" */

/** @param {Context} context @param {View} view @param {Now} now @param {Target | null} hovered */
export function drawMarks(context, view, now, hovered) {
  const { step, columns, rows, width, colours } = view;
  const last = rows[rows.length - 1];
  const bottom = last.y + last.height;
  if (hovered?.row) outline(context, hovered.row, width, colours.soft, 1);
  if (hovered && hovered.place >= 0 && !hovered.head) {
    column(context, columns, hovered.place, rows[0].y, bottom, colours.soft, 1);
  }
  if (now.word >= 0) {
    const place = step.places[now.word];
    column(context, columns, place, rows[0].y, bottom, colours.ink, 2);
    label(context, view, place, now.word);
  }
}

/**
 * @param {Context} context @param {Row} row @param {number} width @param {string} colour
 * @param {number} thickness
 */
function outline(context, { y, height }, width, colour, thickness) {
  context.strokeStyle = colour;
  context.lineWidth = thickness;
  context.strokeRect(0.5, Math.round(y) + 0.5, width - 1, Math.round(height) - 1);
}

/**
 * @param {Context} context @param {Columns} columns @param {number} place @param {number} top
 * @param {number} bottom @param {string} colour @param {number} thickness
 */
function column(context, columns, place, top, bottom, colour, thickness) {
  const left = columns.x(place);
  const right = Math.max(left + 3, columns.x(place + 1));
  if (right < columns.left || left > columns.right) return;
  context.strokeStyle = colour;
  context.lineWidth = thickness;
  context.strokeRect(left - thickness / 2, top, right - left + thickness, bottom - top);
}

// The word that was searched for, beside its column.
/** @param {Context} context @param {View} view @param {number} place @param {number} word */
function label(context, { content, columns, rows, colours }, place, word) {
  const x = columns.x(place + 0.5);
  if (x < columns.left || x > columns.right) return;
  context.font = "600 12px system-ui, sans-serif";
  const wide = context.measureText(content.words[word]).width + 8;
  const left = x + wide + 6 > columns.right ? x - wide - 6 : x + 6;
  context.fillStyle = colours.ink;
  context.fillRect(left, rows[0].y + 2, wide, 17);
  context.fillStyle = colours.ground;
  context.textBaseline = "middle";
  context.fillText(content.words[word], left + 4, rows[0].y + 11);
}
