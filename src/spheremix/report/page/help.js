// How to read this report, and its keys: of what there is in it.

import { find, make, present } from "./dom.js";
import { isDense, nounOf } from "./format.js";
import { writeSure } from "./help_sure.js";

/** @import { Content } from "./types.d.ts" */

/** @param {Content} content */
export function writeHelp(content) {
  writeSure(content);
  find("help-text").textContent = reading(content).join(" ");
  find("help-map").textContent =
    "To zoom the map, hold Ctrl and turn the mouse wheel; after a click on the map the wheel alone " +
    "is enough. Drag the map to move it. Click a label above the map to zoom to those " +
    `${nounOf(content)}s. The button back of the browser goes back in the report. The address keeps the view: to show it to somebody else, ` +
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

// Opens the help at its beginning, wherever it was left.
export function openHelp() {
  const help = find("help");
  help.showModal();
  help.scrollTop = 0;
}

/** @param {Content} content */
function reading(content) {
  const { steps, contrast, documents, tree } = content;
  const noun = nounOf(content);
  const said = content.kind === "words" || contrast;
  return present([
    `On the left are the groups: how many documents each has${said ? ", its words" : ""}, and how ` +
      "sure it is. Tables and commands call a group a cluster.",
    documents
      ? "Choose a group to see its documents, then a document to read it."
      : "Choose a group to see more of it.",
    tree &&
      "The slider of groups merges groups that are alike, or divides them. At the number of the " +
        "model there are also weights and reasons.",
    steps.length > 1 &&
      `The slider of ${noun}s keeps few or many ${noun}s in each group. The groups keep their ` +
        "names, even where their documents change.",
    isDense(content)
      ? "There is no penalty, so every group has every coordinate, and a coordinate means little " +
        "by itself."
      : `In the tab of ${noun}s each row is a group, and each column is a ${noun}: on the left ` +
        "those that many groups share, on the right those of only one group.",
    contrast && "The card of a group lists the words of its texts, which tell what it is about.",
  ]);
}

/** @param {Content} content */
function keysOf(content) {
  const path = content.steps.length > 1;
  const dataMap = content.rows && content.labels;
  return present([
    path && ["← →", `fewer or more ${nounOf(content)}s, step by step (Shift: ten steps)`],
    path && ["Home", `back to the chosen number of ${nounOf(content)}s`],
    content.tree && [", .", "fewer or more groups"],
    ["↑ ↓", "group above or below"],
    content.documents && ["j k", "next or previous document"],
    ["/", `search for a ${nounOf(content)}`],
    ["+ − 0", "zoom the map in, out, or back to all"],
    ["[ ]", "move the zoomed map"],
    dataMap && ["m", "groups or documents as rows of the map"],
    ["d", "dark or light"],
    content.documents && ["Esc", `clear the marked ${nounOf(content)}, or close the document`],
    !content.documents && ["Esc", `clear the marked ${nounOf(content)}`],
    ["?", "this help"],
  ]);
}
