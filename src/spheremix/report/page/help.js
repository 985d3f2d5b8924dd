// How to read this report, and its keys: of what there is in it.

import { find, make, present } from "./dom.js";
import { isDense, nounOf } from "./format.js";

/** @import { Content } from "./types.d.ts" */

/** @param {Content} content */
export function writeHelp(content) {
  find("help-text").textContent = reading(content).join(" ");
  find("help-map").textContent =
    "To zoom the map, hold Ctrl and turn the mouse wheel; after a click on the map the wheel alone " +
    "is enough. Drag the map to move it. Click a label above the map to see that group of " +
    `${nounOf(content)}s. The address of the page keeps the view: to show it to somebody else, ` +
    "send the file and the part of the address after #.";
  const rows = keysOf(content).map(([key, text]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, ...key.split(" ").map((one) => make("kbd", { text: one }))),
      make("td", { text }),
    ),
  );
  find("help-keys").replaceChildren(...rows);
}

/** @param {Content} content */
function reading(content) {
  const { kind, steps, contrast, documents } = content;
  const noun = nounOf(content);
  const prototype =
    kind === "words"
      ? "Each cluster has a prototype: the words that describe it, each with a weight."
      : "Each cluster has a prototype: a direction, with one weight for each coordinate.";
  const map = `The map shows all prototypes: each row is a cluster, and each column is a ${noun}.`;
  const next = documents ? "Choose a cluster, then a document." : "Choose a cluster.";
  const point = `Point at a column to read its ${noun}. ${next}`;
  if (isDense(content))
    return present([
      prototype,
      map,
      "There is no penalty, so every cluster has every coordinate, and a coordinate means little " +
        "by itself.",
      contrast &&
        "The card of a cluster lists the words of its texts, which tell what it is about.",
      point,
    ]);
  return present([
    prototype,
    map,
    `On the left are the ${noun}s that many clusters share, then those of fewer clusters, and on ` +
      `the right those of only one cluster.`,
    steps.length > 1 &&
      `Move the slider to the right to keep fewer ${noun}s. The clusters keep the names that they ` +
        "have at the chosen β, even where their documents change.",
    point,
  ]);
}

/** @param {Content} content */
function keysOf(content) {
  const path = content.steps.length > 1;
  const dataMap = content.rows && content.labels;
  return present([
    path && ["← →", "smaller or larger β, step by step (Shift: ten steps)"],
    path && ["Home", "back to the chosen β"],
    ["↑ ↓", "cluster above or below"],
    content.documents && ["j k", "next or previous document"],
    ["/", `search for a ${nounOf(content)}`],
    ["+ − 0", "zoom the map in, out, or back to all"],
    ["[ ]", "move the zoomed map"],
    dataMap && ["m", "prototype map or data map"],
    ["d", "dark or light"],
    ["Esc", `clear the marked ${nounOf(content)}`],
    ["?", "this help"],
  ]);
}
