// Tables as CSV, and files saved by the browser.

import { make } from "./dom.js";

/** @import { Cell } from "../types.d.ts" */

// A spreadsheet runs a cell that begins like this, unless it is a number: an apostrophe makes it
// text, as in the tables of the command.
const FORMULA = /^(?![+-]?[0-9]+(?:\.[0-9]+)?$)'*[=+\-@\t\r]/u;

/** @param {Cell} value */
function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return value === Infinity ? "inf" : String(value);
  const text = FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {string[]} columns @param {Cell[][]} rows */
export function toCsv(columns, rows) {
  return [columns, ...rows]
    .map((row) => row.map(csvCell).join(","))
    .join("\n")
    .concat("\n");
}

/** @param {string} name @param {string} text @param {string} type */
export function saveText(name, text, type) {
  saveBlob(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

/** @param {string} name @param {Blob} blob */
export function saveBlob(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = make("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// Put a text where it can be pasted from. A page that is not trusted with the clipboard asks in the old way.
/** @param {string} text */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { class: "heard" });
    area.value = text;
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
