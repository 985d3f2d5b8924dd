// How to read this report, and its keys: of what there is in it.

import { find, make, present } from "./dom.js";
import { capital, isDense, nounOf } from "./format.js";

/** @import { Content } from "./types.d.ts" */

/** @param {Content} content */
export function writeHelp(content) {
  find("help-text").textContent = reading(content).join(" ");
  find("help-map").textContent =
    "Ctrl and the wheel zoom the map, or the wheel alone once the map was clicked; drag to move it; " +
    `click a label above it to see that group of ${nounOf(content)}s. ` +
    "The address of the page keeps the view: send it along with the file.";
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
  const choose = documents ? "; choose a cluster, then a document." : "; choose a cluster.";
  const prototype =
    kind === "words"
      ? "Each cluster has a prototype: the words it is made of, with their weights."
      : "Each cluster has a prototype: its direction, a weight for each coordinate.";
  const rows = "The map shows all of them, one row a cluster.";
  const hover = `over a column to read its ${noun}${choose}`;
  if (isDense(content))
    return [
      prototype,
      rows,
      `There is no penalty: every cluster has every coordinate, and these mean little by themselves.${
        contrast ? " What a cluster is about is told by the words of its texts, on its card." : ""
      }`,
      `Hover ${hover}`,
    ];
  return [
    prototype,
    rows,
    `${capital(noun)}s that many clusters share stand at the left, then those of fewer and fewer clusters, ` +
      `then the ${noun}s of one cluster only.`,
    steps.length > 1
      ? `Move the slider to the right to keep fewer ${noun}s: clusters keep the names they have at the ` +
        `chosen β, even where their documents change. Hover ${hover}`
      : `Hover ${hover}`,
  ];
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
