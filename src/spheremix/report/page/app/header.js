// The lines at the top: what this is, how many groups, how sure that is; and light or dark.

import { UNFILTERED } from "../documents/filters.js";
import {
  AGREED,
  agreementPercent,
  countSure,
  marksLines,
  samenessWord,
  stableWord,
} from "../groups/certainty.js";
import { chooseModelGroup } from "../groups/grouping.js";
import { openCut } from "../groups/sliders.js";
import { bdi, find, make, present, separated, textButton } from "../lib/dom.js";
import {
  capital,
  counted,
  countedRows,
  integer,
  nounOf,
  percent,
  shownOfAll,
} from "../lib/format.js";
import { openSure } from "./help.js";

/** @import { App, Content, State, Step } from "../types.d.ts" */

/** @param {App} app */
export function mountHeader(app) {
  const { content, state, stepOf } = app;
  const { corpus, model } = content;
  find("title").replaceChildren(bdi(content.title, { title: content.title }));
  const many = make("span", { id: "how-many" });
  const split = content.documents?.passages;
  const of = split ? ` of ${counted(split.n_documents, "document")}` : "";
  const rows = `${countedRows(corpus.n_kept)}${of}`;
  find("facts").replaceChildren(`${rows} in `, many);
  const shown = content.documents?.id.length ?? 0;
  const text = ` · map and lists: a sample of ${integer(shown)}`;
  if (corpus.sampled) find("facts").append(make("span", { text, title: corpus.sampled }));
  const warnings = warningsButton(app);
  if (warnings) find("facts").after(warnings);

  const drift = make("span");
  const back = textButton("back", () => state.set({ step: content.chosen, cut: 0 }));
  find("away").replaceChildren(drift, " ", back);
  const word = stabilityWord(content);
  find("sure-word").textContent = word || "details";
  mountPopup(find("sure"));
  state.follow(["step", "cut", "edited"], () => {
    const { groups } = app.groups();
    many.textContent = counted(groups.length, "group");
    find("how-sure").replaceChildren(
      ...[...present(facts(app)), ...howSure(app), ...marksLines(groups)].map((one) =>
        make("li", {}, one),
      ),
    );
    const moved = state.now.step !== content.chosen || state.now.cut !== 0;
    find("away").hidden = !moved;
    find("sure").hidden = moved;
    if (!moved) return;
    if (state.now.cut) drift.textContent = `the run has ${model.n_groups}`;
    else if (content.labels)
      drift.textContent = drifted(stepOf(state.now.step), stepOf(content.chosen));
    drift.title = drift.textContent;
  });
}

// Close what is open once something else is asked for.
/** @param {HTMLElement} popup */
function mountPopup(popup) {
  const close = () => popup.removeAttribute("open");
  document.addEventListener("pointerdown", (event) => {
    if (event.target instanceof Node && !popup.contains(event.target)) close();
  });
  popup.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !popup.hasAttribute("open")) return;
    event.stopPropagation();
    close();
    popup.querySelector("summary")?.focus();
  });
  popup.addEventListener("click", (event) => {
    if (event.target instanceof HTMLButtonElement) close();
  });
}

// Return how many words there are, and how many documents belong nowhere.
/** @param {App} app */
function facts({ content, groupsAt }) {
  const { corpus, model, chosen } = content;
  const shown = shownOfAll(content);
  const lost = groupsAt({ cut: 0, step: chosen }).nowhere?.size ?? 0;
  return [
    shown ? `${shown} shown` : counted(model.n_words, nounOf(content)),
    lost > 0 &&
      `${integer(lost)} (${percent(lost / corpus.n_kept)}) ${lost === 1 ? "belongs" : "belong"} nowhere`,
  ];
}

// Return how far one finds the same groups again, in a word or two; nothing where that is not known.
/** @param {Content} content */
function stabilityWord(content) {
  const values = measured(content).flatMap(({ value }) => (value === null ? [] : [value]));
  return values.length ? stableWord(Math.min(...values)) : "";
}

// Return how far restarts and redrawn samples agree, the other numbers, and what it all means.
/** @param {App} app */
function howSure(app) {
  const parts = [...agreements(app.content), ...distrusted(app), ...otherNumbers(app)];
  if (!parts.length) return [];
  const ask = textButton("How sure?", openSure, {
    id: "ask-sure",
    title: "What these numbers mean",
  });
  return [...parts, ask];
}

/** @param {App} app */
function warningsButton(app) {
  const { content, state } = app;
  const warnings = content.remarks.filter(({ warning }) => warning);
  if (!warnings.length) return null;
  return textButton(
    `! ${counted(warnings.length, "warning")}`,
    () => {
      state.set({ tab: "corpus" });
      find("corpus").scrollTop = 0;
      const [group, ...others] = warnings.flatMap(({ groups }) => groups);
      if (warnings.length === 1 && group && !others.length) chooseModelGroup(app, group[0]);
    },
    {
      class: "plain warning",
      id: "warnings",
      title: warnings.map(({ text }) => text).join("\n\n"),
    },
  );
}

// Return how far restarts and halves of the documents lead to the same groups.
/** @param {Content} content @returns {{ what: string, value: number | null, title: string }[]} */
function measured({ candidates, advice, model }) {
  const same = candidates.find((one) => one.chosen)?.agreement ?? null;
  const at = advice?.evidence.n_groups?.indexOf(model.n_groups) ?? -1;
  const stable = at >= 0 ? (advice?.evidence.agreement?.[at] ?? null) : null;
  return [
    {
      what: "restarts agree by",
      value: same,
      title: "when the search starts elsewhere in the same documents",
    },
    { what: "halves agree by", value: stable, title: "in halves of these documents" },
  ];
}

// Return how far all groups together agree. Beside each group stands its own stability.
/** @param {Content} content */
function agreements(content) {
  const all = measured(content);
  const values = all.flatMap(({ value }) => (value === null ? [] : [value]));
  if (!values.length) return [];
  const parts = all.flatMap(({ what, value, title }) =>
    value === null
      ? []
      : [
          make("span", {
            class: value < AGREED ? "warning" : null,
            text: `${value < AGREED ? "! " : ""}${what} ${agreementPercent(value)}`,
            title:
              `How far the same groups are found ${title}. 100 %: always the same; 0 %: no more ` +
              "than by chance (mean adjusted Rand index).",
          }),
        ],
  );
  const word = ` (${samenessWord(Math.min(...values))})`;
  return [
    make("span", { id: "agreements" }, "All groups together: ", ...separated(parts, ", "), word),
  ];
}

/** Return how many documents are borderline; a click lists them. @param {App} app */
function distrusted({ content, state }) {
  const { documents } = content;
  if (!documents?.second_group) return [];
  const { borderline: n } = countSure(content, documents, documents.id.keys());
  const of = documents.counted ? ` of the ${integer(documents.id.length)} shown` : "";
  if (!n) return [make("span", { id: "distrusted", text: "No document is borderline" })];
  return [
    textButton(
      `${countedRows(n)}${of} ${n === 1 ? "is" : "are"} borderline`,
      () => state.set({ ...UNFILTERED, scope: "all", list: "borderline", document: -1 }),
      {
        id: "distrusted",
        title:
          "Do not rely on the groups of these documents: they may as well be in another one. A " +
          "click lists them.",
      },
    ),
  ];
}

// Return what the advice recommends beside this number, each with its sentence.
/** @param {App} app */
function otherNumbers(app) {
  const { advice, model } = app.content;
  if (!advice) return [];
  const others = advice.recommended.filter(({ n_groups: K }) => K !== model.n_groups);
  if (!others.length) return [];
  const links = others.map(({ n_groups: K, sentence, level }) =>
    level === "none"
      ? make("span", { class: "warning", text: "no groups at all", title: sentence })
      : textButton(`${K} (${level})`, () => openCut(app, K), { title: sentence }),
  );
  return [make("span", {}, "Also possible: ", ...separated(links, ", "))];
}

// Return how many documents have changed group: names stay along the path, whatever becomes of
// groups.
/** @param {Step} step @param {Step} chosen */
function drifted({ labels }, chosen) {
  let n = 0;
  labels.forEach((k, i) => {
    if (k !== chosen.labels[i]) n++;
  });
  const part = n / labels.length;
  const few = n === 1 ? "1 document has" : `${n || "no"} documents have`;
  const which = part < 0.01 ? few : `${percent(part)} of the documents have`;
  return `${capital(which)} changed group, compared with the chosen number of words.`;
}

// Light or dark: as the system says, unless chosen here.

/**
 * Return what draws in the colours of paper, whatever the theme.
 * @param {State} state @param {() => void} recolour @param {() => void} printed
 */
export function mountTheme(state, recolour, printed) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const button = find("dark");
  const dark = () => (state.now.theme === "auto" ? system.matches : state.now.theme === "dark");
  const apply = () => {
    document.documentElement.dataset.theme = dark() ? "dark" : "light";
    button.setAttribute("aria-pressed", String(dark()));
    recolour();
  };
  button.addEventListener("click", () => state.set({ theme: dark() ? "light" : "dark" }));
  system.addEventListener("change", apply);
  state.follow(["theme"], apply);
  // Paper is white.
  const lighten = () => {
    document.documentElement.dataset.theme = "light";
    recolour();
  };
  addEventListener("beforeprint", () => {
    lighten();
    printed();
  });
  addEventListener("afterprint", apply);
  /** @template T @param {() => T} draw @returns {T} */
  const onPaper = (draw) => {
    if (!dark()) return draw();
    lighten();
    try {
      return draw();
    } finally {
      apply();
    }
  };
  return onPaper;
}
