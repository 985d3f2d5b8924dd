// The search box: words to show on the map, and how many documents have the text.

import { bdi, debounced, find, make } from "./dom.js";
import { atThisBeta, counted, nounOf, shownOfAll } from "./format.js";
import { anyCut, createSearch } from "./filters.js";
import { sharers } from "./words.js";
import { showWord } from "./word_line.js";

const SHOWN = 8;

export function mountSearch(app) {
  const { content, state } = app;
  const input = find("search");
  const box = find("found");
  input.placeholder = `search a ${nounOf(content)}  /`;
  input.setAttribute("aria-label", `Search a ${nounOf(content)}`);
  const lowered = content.words.map((word) => word.toLowerCase());
  const search = content.documents && createSearch(content.documents);

  const close = () => {
    box.hidden = true;
    input.setAttribute("aria-expanded", "false");
  };
  const pick = (action) => {
    close();
    action();
  };
  // What this box put into the search for documents leaves it with this box.
  let filled = "";
  const fill = (text) => {
    filled = text;
    state.set({ text, scope: "all" });
  };
  const empty = () => {
    if (filled && state.now.text === filled) state.set({ text: "" });
    filled = "";
    close();
  };
  const look = () => {
    const wanted = input.value.trim().toLowerCase();
    if (!wanted) return empty();
    const words = matchingWords(lowered, wanted, content.forms);
    const options = words.slice(0, SHOWN).map((j) => wordOption(app, j, pick));
    if (!words.length)
      options.push(
        make("li", {
          class: "soft",
          text: noMatch(content),
        }),
      );
    if (search) options.push(documentsOption(app, input.value.trim(), search, pick, fill));
    box.replaceChildren(...options);
    box.hidden = false;
    input.setAttribute("aria-expanded", "true");
  };

  input.addEventListener("input", debounced(120, look));
  input.addEventListener("focus", look);
  input.addEventListener("blur", () => setTimeout(close, 150));
  input.addEventListener("keydown", (event) => onKey(event, { input, box, look, empty, state }));
}

// The word of this form in the texts, those that begin with it, then those that contain it.
function matchingWords(lowered, wanted, forms) {
  const begin = [];
  const contain = [];
  lowered.forEach((word, j) => {
    if (word.startsWith(wanted)) begin.push(j);
    else if (wanted.length > 2 && word.includes(wanted)) contain.push(j);
  });
  begin.sort((a, b) => lowered[a].length - lowered[b].length);
  const form = forms && forms.get(wanted);
  return [...new Set([...(form === undefined || form === null ? [] : [form]), ...begin, ...contain])];
}

function noMatch(content) {
  const shown = shownOfAll(content);
  const none = `No ${nounOf(content)} begins like this`;
  return shown ? `${none} among those in this report, ${shown}.` : `${none}.`;
}

function wordOption(app, j, pick) {
  const { content, state, stepOf } = app;
  const step = stepOf(state.now.step);
  const having = sharers(step, j);
  const where =
    having.length === 1
      ? content.names[having[0]]
      : having.length
        ? `${having.length} of ${counted(step.K, "cluster")}`
        : `no cluster${atThisBeta(content)}`;
  const click = () => pick(() => showWord(app, j));
  return make(
    "li",
    { role: "option", on: { click } },
    bdi(content.words[j], { class: "strong" }),
    make("span", { class: "soft" }, bdi(where)),
  );
}

function documentsOption({ content }, text, search, pick, fill) {
  const test = search(text);
  let n = 0;
  for (let i = 0; i < content.documents.id.length; i++) n += test(i);
  const click = () =>
    pick(() => {
      fill(text);
      find("documents").scrollIntoView({ block: "start" });
    });
  return make(
    "li",
    { role: "option", on: { click } },
    `${counted(n, "document")} with `,
    bdi(`“${text}”`),
    anyCut(content.documents) ? " in what this report has of their texts" : null,
  );
}

function onKey(event, { input, box, look, empty, state }) {
  const options = [...box.querySelectorAll("[role=option]")];
  const at = options.findIndex((option) => option.getAttribute("aria-selected") === "true");
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const to = event.key === "ArrowDown" ? at + 1 : Math.max(at, 0) - 1;
    const next = options[(to + options.length) % options.length];
    options.forEach((option) => option.setAttribute("aria-selected", String(option === next)));
  } else if (event.key === "Enter") {
    event.preventDefault();
    if (box.hidden) look();
    const first = options[Math.max(0, at)] || box.querySelector("[role=option]");
    if (first) first.click();
  } else if (event.key === "Escape") {
    input.value = "";
    empty();
    state.set({ word: -1 });
    input.blur();
  }
}
