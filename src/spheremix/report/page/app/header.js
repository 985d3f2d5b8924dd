// The lines at the top: what this is, how many groups, how sure that is; and light or dark.

import { AGREED, agreementPercent, countSure, samenessWord } from "../groups/certainty.js";
import { chooseModelGroup } from "../groups/grouping.js";
import { openCut } from "../groups/sliders.js";
import { bdi, find, make, separated, textButton } from "../lib/dom.js";
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
  const words = shownOfAll(content)
    ? `${shownOfAll(content)} shown`
    : counted(model.n_words, nounOf(content));
  const lost = app.groupsAt({ cut: 0, step: content.chosen }).nowhere?.size ?? 0;
  const nowhere = lost
    ? ` · ${integer(lost)} (${percent(lost / corpus.n_kept)}) ${lost === 1 ? "belongs" : "belong"} nowhere`
    : "";
  const split = content.documents?.passages;
  const of = split ? ` of ${counted(split.n_documents, "document")}` : "";
  find("facts").textContent = `${countedRows(corpus.n_kept)}${of}${nowhere} · ${words}`;

  const many = make("strong", { id: "how-many" });
  const drift = make("span");
  const back = textButton("back", () => state.set({ step: content.chosen, cut: 0 }));
  const away = make("span", { id: "away" }, drift, " ", back);
  const still = make("span", { id: "how-sure" }, ...howSure(app));
  find("sure").replaceChildren(many, " ", still, away);
  state.follow(["step", "cut"], () => {
    const { groups } = app.groups();
    many.textContent = `${counted(groups.length, "group")}.`;
    const moved = state.now.step !== content.chosen || state.now.cut !== 0;
    away.hidden = !moved;
    still.hidden = moved;
    if (!moved) return;
    if (state.now.cut)
      drift.textContent =
        `Along the tree; the model has ${model.n_groups}: how sure, weights and reasons are told ` +
        "for those.";
    else if (content.labels)
      drift.textContent = drifted(stepOf(state.now.step), stepOf(content.chosen));
  });
}

// Return how far restarts and redrawn samples agree, the other numbers, and warnings.
/** @param {App} app */
function howSure(app) {
  const { content, state } = app;
  const parts = [...agreements(content), ...distrusted(app), ...otherNumbers(app)];
  const warnings = content.remarks.filter(({ warning }) => warning);
  if (warnings.length)
    parts.push(
      textButton(
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
      ),
    );
  if (!parts.length) return [];
  const ask = textButton("How sure?", openSure, {
    id: "ask-sure",
    title: "What these numbers mean",
  });
  return [ask, " ", ...separated(parts, " · ")];
}

// Return how far all groups together agree. Beside each group stands its own stability.
/** @param {Content} content */
function agreements({ candidates, advice, model }) {
  const same = candidates.find((one) => one.chosen)?.agreement ?? null;
  const at = advice?.evidence.n_groups?.indexOf(model.n_groups) ?? -1;
  const stable = at >= 0 ? (advice?.evidence.agreement?.[at] ?? null) : null;
  /** @type {[what: string, value: number | null, title: string][]} */
  const all = [
    ["restarts agree by", same, "when the search starts elsewhere in the same documents"],
    ["halves agree by", stable, "in halves of these documents"],
  ];
  const values = all.flatMap(([, value]) => (value === null ? [] : [value]));
  if (!values.length) return [];
  const parts = all.flatMap(([what, value, title]) =>
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
function distrusted({ content, state, lasso }) {
  const { documents } = content;
  if (!documents?.second_group) return [];
  const { borderline: n } = countSure(content, documents, documents.id.keys());
  if (!n) return [make("span", { id: "distrusted", text: "No document is borderline" })];
  return [
    textButton(
      `${countedRows(n)} ${n === 1 ? "is" : "are"} borderline`,
      () => {
        lasso.set([]);
        const others = { text: "", label: -1, rival: -1, from: "", to: "" };
        state.set({ ...others, scope: "all", sure: "borderline", sort: "ambiguous" });
      },
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

/** @param {State} state @param {() => void} recolour @param {() => void} printed */
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
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.theme = "light";
    recolour();
    printed();
  });
  addEventListener("afterprint", apply);
}
