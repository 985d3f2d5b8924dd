// The chosen cluster: size, concentration, words, labels and time, at this step.

import { bdi, find, make, present } from "./dom.js";
import { atThisBeta, counted, decimal, integer, nounOf, percent, shownOfAll } from "./format.js";
import {
  characteristicWords,
  commonWords,
  hasGroups,
  onlyHereWords,
  roleOf,
  sharedWords,
  sharers,
  wordCountText,
} from "./words.js";
import { labelBars, timeBars } from "./distribution.js";
import { showWord } from "./word_line.js";

/** @import { App, Content, Role, Step } from "./types.d.ts" */

const FIRST = 16; // characteristic words
const SHOWN = 24; // words of each other list

/** @param {App} app */
export function mountCard(app) {
  const { content, state, stepOf } = app;
  let all = false;
  const toggle = () => {
    all = !all;
    draw();
  };
  const draw = () => {
    const step = stepOf(state.now.step);
    const k = state.now.cluster;
    find("card-body").replaceChildren(
      ...present([
        facts(content, step, k),
        content.kind === "coordinates" ? contrastWords(content, k) : null,
        ...wordParts(app, step, k, all, toggle),
        ...labelBars(content, step, k, state),
        timeBars(content, step, k),
      ]),
    );
    find("card-name").replaceChildren(bdi(content.names[k]));
  };
  state.followAtRest(["cluster", "step"], draw);
}

/** @param {Content} content @param {Step} step @param {number} k */
function facts(content, step, k) {
  const size = step.entry.sizes[k];
  const total = step.entry.sizes.reduce((sum, one) => sum + one, 0) || 1;
  const same = content.model.kappa === "shared" ? ", the same for all" : "";
  const kappa = `κ = ${decimal(step.entry.kappas[k])}${same}`;
  return make("p", {
    class: "facts-line",
    text:
      `cluster ${k} · ${counted(Math.round(size), "document")}, ${percent(size / total)} · ` +
      `${wordCountText(content, step, k)} · ${kappa}`,
  });
}

/** @param {Content} content @param {number} k */
function contrastWords(content, k) {
  if (!content.contrast) return null;
  const words = content.contrast[k].map(([word, z]) =>
    make(
      "li",
      { title: `z = ${decimal(z)}` },
      bdi(word),
      make("span", { class: "soft number", text: decimal(z) }),
    ),
  );
  return part(
    "Words of its texts",
    "the most characteristic first, each with its z-score",
    make("ul", { class: "chips" }, ...words),
  );
}

/**
 * @param {App} app @param {Step} step @param {number} k @param {boolean} all
 * @param {() => void} toggle
 */
function wordParts(app, step, k, all, toggle) {
  const limit = all ? Infinity : SHOWN;
  const groups = wordGroups(app.content, step, k, limit);
  const parts = groups
    .filter(({ words, role }) => words.length || role === "own")
    .map(({ title, note, words, role }) => part(title, note, chips(app, step, k, words, role)));
  if (hasGroups(app.content, step)) {
    const first = characteristicWords(app.content, step, k, FIRST);
    const note = "that weigh much in this cluster and are used little in the others";
    const title = `Characteristic ${nounOf(app.content)}s`;
    parts.unshift(part(title, note, chips(app, step, k, first, null)));
  }
  const shown = groups.reduce((sum, { words }) => sum + words.length, 0);
  const hidden = step.entry.n_words[k] - step.shownCounts[k];
  if (step.shownCounts[k] > shown || all) {
    const number = integer(step.shownCounts[k]);
    const more = hidden ? `show the ${number} in this report` : `show all ${number}`;
    parts.push(
      make("button", {
        type: "button",
        class: "plain",
        text: all ? "show less" : more,
        on: { click: toggle },
      }),
    );
  }
  if (hidden) parts.push(hiddenWords(app.content, hidden));
  return parts;
}

// What the limit of the page leaves out of this list.
/** @param {Content} content @param {number} hidden */
function hiddenWords(content, hidden) {
  const noun = nounOf(content);
  return make("p", {
    class: "soft hidden-words",
    text:
      `This cluster has ${counted(hidden, `more ${noun}`)}, not listed here, ` +
      `because the report shows ${shownOfAll(content)}.`,
  });
}

// Words of one cluster only, shared and common words; all together where they are not told apart.
/**
 * @param {Content} content @param {Step} step @param {number} k @param {number} limit
 * @returns {{ title: string, note: string, words: number[], role: Role }[]}
 */
function wordGroups(content, step, k, limit) {
  const title = (/** @type {string} */ kind) => `${kind} ${nounOf(content)}s`;
  if (!hasGroups(content, step)) {
    const words = characteristicWords(content, step, k, limit);
    return [{ title: title("All"), note: "the most characteristic first", words, role: "common" }];
  }
  const all = limit === Infinity;
  const least = percent(content.only_here_share);
  const bound =
    all || !content.only_here ? "" : `; listed: those in at least ${least} of its documents`;
  return [
    {
      title: "Only here",
      note: `${counted(step.entry.n_only_here_words[k], nounOf(content))} that no other cluster has${bound}`,
      words: onlyHereWords(content, step, k, limit, all),
      role: "own",
    },
    {
      title: title("Shared"),
      note: "that some other clusters have too",
      words: sharedWords(content, step, k, limit),
      role: "shared",
    },
    {
      title: title("Common"),
      note: "that every cluster has",
      words: commonWords(content, step, k, limit),
      role: "common",
    },
  ];
}

/** @param {string} title @param {string} note @param {HTMLElement} body */
function part(title, note, body) {
  return make(
    "section",
    { class: "part" },
    make("h3", {}, title, make("span", { class: "note", text: note })),
    body,
  );
}

// Words as buttons that show them on the map; the bar is the weight in the prototype.
/**
 * @param {App} app @param {Step} step @param {number} k @param {number[]} words
 * @param {Role | null} role of all these words; null where each has its own
 */
function chips(app, step, k, words, role) {
  const { content } = app;
  if (!words.length) return make("p", { class: "soft", text: `None${atThisBeta(content)}.` });
  const largest = Math.max(...words.map((j) => Math.abs(step.weight(k, j))));
  return make(
    "ul",
    { class: `chips ${role ?? ""}` },
    ...words.map((j) => {
      const bar = make("span", { class: "bar", "aria-hidden": "true" });
      bar.style.width = `${Math.max(4, (100 * Math.abs(step.weight(k, j))) / largest)}%`;
      const title = wordTitle(content, step, k, j, role ?? roleOf(step, j, k));
      const button = make(
        "button",
        { type: "button", title, on: { click: () => showWord(app, j) } },
        bdi(content.words[j]),
        bar,
      );
      return make("li", {}, button);
    }),
  );
}

/**
 * @param {Content} content @param {Step} step @param {number} k @param {number} j
 * @param {Role} role
 */
function wordTitle(content, step, k, j, role) {
  const exit = content.exit_betas ? content.exit_betas[k * step.W + j] : null;
  const leaves =
    exit === null
      ? ""
      : exit === Infinity
        ? "; kept to the end of the path"
        : `; dropped at β = ${decimal(exit)}`;
  const others = sharers(step, j)
    .filter((other) => other !== k)
    .map((other) => content.names[other]);
  const shared = role === "shared" ? `; also in: ${others.join("; ")}` : "";
  return `weight ${decimal(step.weight(k, j))}${leaves}${shared}`;
}
