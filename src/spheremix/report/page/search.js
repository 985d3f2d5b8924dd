// The search box: words to show on the map, and how many documents have the text.

import { bdi, debounced, find, make } from "./dom.js";
import { counted } from "./format.js";
import { createSearch } from "./filters.js";
import { sharers } from "./words.js";
import { showWord } from "./word_line.js";

const SHOWN = 8;

export function mountSearch(app) {
  const { content, state } = app;
  const input = find("search");
  const box = find("found");
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
  const look = () => {
    const wanted = input.value.trim().toLowerCase();
    if (!wanted) return close();
    const words = matchingWords(lowered, wanted);
    const options = words.slice(0, SHOWN).map((j) => wordOption(app, j, pick));
    if (!words.length)
      options.push(
        make("li", {
          class: "soft",
          text: `No ${content.kind === "coordinates" ? "coordinate" : "word"} begins like this.`,
        }),
      );
    if (search) options.push(documentsOption(app, input.value.trim(), search, pick));
    box.replaceChildren(...options);
    box.hidden = false;
    input.setAttribute("aria-expanded", "true");
  };

  input.addEventListener("input", debounced(120, look));
  input.addEventListener("focus", look);
  input.addEventListener("blur", () => setTimeout(close, 150));
  input.addEventListener("keydown", (event) => onKey(event, { input, box, look, close, state }));
}

// Those that begin with it, then those that contain it.
function matchingWords(lowered, wanted) {
  const begin = [];
  const contain = [];
  lowered.forEach((word, j) => {
    if (word.startsWith(wanted)) begin.push(j);
    else if (wanted.length > 2 && word.includes(wanted)) contain.push(j);
  });
  begin.sort((a, b) => lowered[a].length - lowered[b].length);
  return [...begin, ...contain];
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
        : "no cluster at this β";
  const click = () => pick(() => showWord(app, j));
  return make(
    "li",
    { role: "option", on: { click } },
    bdi(content.words[j], { class: "strong" }),
    make("span", { class: "soft" }, bdi(where)),
  );
}

function documentsOption({ content, state }, text, search, pick) {
  const test = search(text);
  let n = 0;
  for (let i = 0; i < content.documents.id.length; i++) n += test(i);
  const click = () =>
    pick(() => {
      state.set({ text, scope: "all" });
      find("documents").scrollIntoView({ block: "start" });
    });
  return make(
    "li",
    { role: "option", on: { click } },
    `${counted(n, "document")} with `,
    bdi(`“${text}”`),
  );
}

function onKey(event, { input, box, look, close, state }) {
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
    close();
    input.value = "";
    state.set({ word: -1 });
    input.blur();
  }
}
