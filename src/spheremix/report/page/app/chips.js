// What is asked of the documents and the map: a chip each, with a cross that takes it away.

import { bdi, find, make } from "../lib/dom.js";
import { capital } from "../lib/format.js";

/** @import { App, Key, Now } from "../types.d.ts" */

/** @typedef {{ key: Key, text: string, about: string, without: Partial<Now> }} Chip */

/**
 * Show the chips; return what takes the last one away, and says whether there was one.
 * @param {App} app
 */
export function mountChips(app) {
  const { state } = app;
  /** @type {Key[]} */
  let order = []; // as they were asked for
  const shown = () => {
    const all = chipsOf(app);
    const keys = all.map(({ key }) => key);
    order = [
      ...order.filter((key) => keys.includes(key)),
      ...keys.filter((key) => !order.includes(key)),
    ];
    return order.flatMap((key) => all.find((one) => one.key === key) ?? []);
  };
  const draw = () => {
    const chips = shown();
    find("chips").hidden = !chips.length;
    find("chip-list").replaceChildren(
      ...chips.map(({ text, about, without }) =>
        make(
          "button",
          {
            type: "button",
            class: "chip",
            title: `${about}. A click takes this away (Esc: the last one).`,
            "aria-label": `${text}: take this away`,
            on: { click: () => state.set(without) },
          },
          bdi(text),
          make("span", { class: "cross", "aria-hidden": "true", text: "×" }),
        ),
      ),
    );
  };
  state.follow(["scope", "word", "text", "label", "rival", "from", "to", "lasso"], draw);
  return () => {
    const last = shown().at(-1);
    if (last) state.set(last.without);
    return Boolean(last);
  };
}

/** @param {App} app @returns {Chip[]} */
function chipsOf({ content, state: { now } }) {
  const { documents, words, names } = content;
  /** @type {(Chip | false)[]} */
  const chips = [
    documents !== null &&
      now.scope === "all" && {
        key: "scope",
        text: "all groups",
        about: "Documents of all groups are listed",
        without: { scope: "group" },
      },
    now.word >= 0 && {
      key: "word",
      text: words[now.word],
      about: "Documents with this word, as far as this report has their words",
      without: { word: -1 },
    },
    now.text !== "" && {
      key: "text",
      text: `“${now.text}”`,
      about: "Documents with this in their texts or titles, as far as this report has them",
      without: { text: "" },
    },
    now.label >= 0 && {
      key: "label",
      text: documents?.label_names?.[now.label] || "(empty)",
      about: "Documents with this label",
      without: { label: -1 },
    },
    now.rival >= 0 && {
      key: "rival",
      text: `or ${names[now.rival]}`,
      about: "Documents whose second group is this one",
      without: { rival: -1 },
    },
    (now.from !== "" || now.to !== "") && {
      key: "from",
      text: capital(`${now.from && `from ${now.from} `}${now.to && `to ${now.to}`}`.trim()),
      about: "Documents of this time",
      without: { from: "", to: "" },
    },
    now.lasso !== "" && {
      key: "lasso",
      text: "drawn around",
      about: "Documents inside the line on the map",
      without: { lasso: "" },
    },
  ];
  return chips.filter((one) => one !== false);
}
