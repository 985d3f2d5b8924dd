// The search box: words to show on the map, and how many documents have the text.

import { bdi, debounced, find, make } from "./dom.js";
import { counted } from "./format.js";
import { createSearch } from "./filters.js";
import { sharers } from "./words.js";
import { zoomTo } from "./columns.js";

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
  mountWordLine(app);
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

// Its column is marked, and brought into sight where the zoom hides it.
export function showWord({ state, stepOf }, j) {
  const step = stepOf(state.now.step);
  const share = (step.places[j] + 0.5) / step.W;
  const [from, to] = state.now.zoom;
  const half = (to - from) / 2;
  const seen = to - from === 1 || (share > from && share < to);
  const cluster = sharers(step, j)[0];
  state.set({
    word: j,
    ...(cluster !== undefined && step.counts[j] === 1 && { cluster }),
    ...(!seen && { zoom: zoomTo(share - half, share + half, step) }),
  });
}

function onKey(event, { input, box, look, close, state }) {
  const options = [...box.querySelectorAll("[role=option]")];
  const at = options.findIndex((option) => option.getAttribute("aria-selected") === "true");
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const next =
      options[(at + (event.key === "ArrowDown" ? 1 : -1) + options.length) % options.length];
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

// The word that is marked, in words.
function mountWordLine({ content, state, stepOf }) {
  const line = find("word-line");
  state.follow(["word", "step"], () => {
    const j = state.now.word;
    line.hidden = j < 0;
    if (j < 0) return;
    const step = stepOf(state.now.step);
    const having = sharers(step, j);
    const names = having
      .slice(0, 4)
      .map((k) =>
        make(
          "button",
          { type: "button", class: "plain", on: { click: () => state.set({ cluster: k }) } },
          bdi(content.names[k]),
        ),
      );
    const clear = make("button", {
      type: "button",
      class: "plain",
      text: "clear",
      on: { click: () => state.set({ word: -1 }) },
    });
    const told = having.length
      ? ` is in ${having.length} of ${counted(step.K, "cluster")}: `
      : " is in no cluster at this β. ";
    const separated = names.flatMap((name, i) => (i ? [", ", name] : [name]));
    const more = having.length - names.length;
    line.replaceChildren(
      bdi(content.words[j], { class: "strong" }),
      told,
      ...separated,
      more > 0 ? ` and ${more} more. ` : " ",
      clear,
    );
  });
}
