// How many groups: what the evidence says of each number that was tried.

import { make } from "./dom.js";
import { decimal } from "./format.js";
import { agreementPercent, share } from "./certainty.js";
import { openCut } from "./group_slider.js";

/** @import { Advice, App } from "./types.d.ts" */

/** @type {Record<string, string>} */
const SURE = {
  clear: "The evidence for this number is clear.",
  fair: "The evidence for this number is fair.",
  weak: "The evidence for this number is weak.",
};

/** @type {[name: string, text: string, title: string][]} */
const COLUMNS = [
  ["stability", "redrawn samples agree", "They give the same groups: 100 % is always"],
  ["adjusted_stability", "beyond chance", "The same between 0 %, what chance gives, and 100 %"],
  ["agreement", "restarts agree", "The search finds the same groups when it starts again: 100 %"],
  ["gain", "last group adds", "To the log-likelihood of a document"],
  ["turning", "turning point", "How much less a further group adds than the last one did"],
  ["score", "score", "Beyond chance plus turning point: larger is better"],
];

/** @param {App} app */
export function advicePart(app) {
  const { advice } = app.content;
  if (!advice) return null;
  const said = advice.recommended.map(({ n_clusters: K, sentence, reading }) => {
    if (reading === "none") return make("li", { text: sentence });
    const colon = sentence.indexOf(":"); // after the number, which leads to its groups
    const button = make("button", {
      type: "button",
      class: "plain",
      text: sentence.slice(0, colon),
      title: `Show ${K} groups`,
      on: { click: () => openCut(app, K) },
    });
    return make("li", {}, button, sentence.slice(colon));
  });
  return make(
    "section",
    { class: "part" },
    make("h3", { text: "How many groups" }),
    make("ul", {}, ...said),
    make("p", { text: [SURE[advice.certainty] ?? "", ...advice.doubts].join(" ") }),
    make("div", { class: "wide" }, evidenceTable(app, advice)),
  );
}

// Agreements in percent, as in the top line; other numbers as they are.
/** @param {string} name @param {number | null} value */
function evidenceText(name, value) {
  if (value === null) return "–";
  if (name === "gain") return decimal(value);
  return ["stability", "adjusted_stability", "agreement"].includes(name)
    ? agreementPercent(value)
    : share(value);
}

/** @param {App} app @param {Advice} advice */
function evidenceTable(app, { evidence, recommended }) {
  const numbers = evidence.n_components ?? [];
  const columns = COLUMNS.filter(([name]) => evidence[name]?.some((value) => value !== null));
  const head = columns.map(([, text, title]) => make("th", { scope: "col", text, title }));
  const rows = numbers.map((K, i) => {
    const place = recommended.findIndex((one) => one.n_clusters === K);
    const chosen = K === app.content.model.n_clusters;
    return make(
      "tr",
      { class: chosen ? "shown" : null },
      make(
        "th",
        { scope: "row" },
        make("button", {
          type: "button",
          class: "plain",
          text: `${K}${chosen ? " (shown)" : place >= 0 ? ` (${recommended[place].reading})` : ""}`,
          on: { click: () => openCut(app, Number(K)) },
        }),
      ),
      ...columns.map(([name]) => {
        const value = evidence[name][i];
        return make("td", { class: "number", text: evidenceText(name, value) });
      }),
    );
  });
  return make(
    "table",
    { class: "plain-table evidence" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col", text: "groups" }), ...head)),
    make("tbody", {}, ...rows),
  );
}
