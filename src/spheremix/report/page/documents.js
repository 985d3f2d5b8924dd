// The documents: most typical, most ambiguous or as they came; found by text, label and date.

import { bdi, debounced, find, make, segmented } from "./dom.js";
import { atThisBeta, capital, counted, decimal, integer } from "./format.js";
import { createList } from "./list.js";
import { anyCut, createSearch, listDocuments, nameOf } from "./filters.js";

/**
 * @import {
 *   App, Content, Documents, LabelColumn, Now, Scope, Sort, State, Step
 * } from "./types.d.ts"
 */

// Pixels of a row, as in the style sheet: with a second line, and without one.
const ROW = 50;
const SHORT = 30;
const SNIPPET = 160; // characters
const TAGS = 2; // labels of a row; the reader shows all

/** @typedef {{ element: HTMLElement, update: (now: Now) => void }} Field */

/** @param {App} app */
export function mountDocuments({ content, state, stepOf }) {
  const { documents } = content;
  if (!documents) {
    find("documents").hidden = true;
    find("reader").hidden = true;
    return { move: () => {}, listed: () => [] };
  }
  const step = () => stepOf(state.now.step);
  const search = createSearch(documents);
  const row = (/** @type {number} */ i) =>
    documentRow(content, documents, step(), i, state.now.scope === "all");
  const short = !documents.text && !content.rows;
  const box = find("document-list");
  box.classList.toggle("short", short);
  const list = createList(box, short ? SHORT : ROW, row, (i) => {
    state.set({ document: i });
    // In one column the reader is below the list.
    if (matchMedia("(max-width: 760px)").matches) find("reader").scrollIntoView();
  });
  const controls = mountControls(content, documents, state);

  const draw = () => {
    list.show(listDocuments(documents, step(), state.now, search), state.now.document);
    controls.update(step(), list.items().length);
  };
  state.followAtRest(
    ["cluster", "step", "scope", "sort", "rival", "label", "from", "to", "text"],
    draw,
  );
  state.follow(["document"], () => list.choose(state.now.document));

  const move = (/** @type {number} */ by) => {
    const items = list.items();
    const at = items.indexOf(state.now.document) + by;
    if (items.length) state.set({ document: items[Math.max(0, Math.min(items.length - 1, at))] });
  };
  return { move, listed: list.items };
}

/**
 * @param {Content} content @param {Documents} documents @param {Step} step @param {number} i
 * @param {boolean} named
 */
function documentRow(content, documents, step, i, named) {
  const odds = documents.log_odds[i];
  const against = odds === Infinity ? "" : ` · log-odds ${decimal(odds)}`;
  return make(
    "div",
    { class: "document" },
    make(
      "div",
      { class: "line" },
      bdi(nameOf(documents, i), { class: "id", title: documents.id[i] }),
      documents.date?.[i] ? make("span", { class: "soft", text: documents.date[i] }) : null,
      ...labelTags(documents, i).slice(0, TAGS),
      named ? bdi(content.names[step.labels[i]], { class: "tag" }) : null,
      make("span", {
        class: "number soft",
        title: "Cosine with the prototype, and log-odds against the next-best cluster",
        text: `cos ${documents.cosine[i].toFixed(2)}${against}`,
      }),
    ),
    documents.text || content.rows
      ? make("div", { class: "snippet" }, bdi(snippet(content, documents, i)))
      : null,
  );
}

/** @param {Documents} documents @param {number} i */
export function labelTags({ labels, label_names: names }, i) {
  return (labels?.[i] ?? []).map((label) => bdi(names?.[label] ?? "", { class: "tag soft" }));
}

// The beginning of the text; without texts, the words that weigh most.
/** @param {Content} content @param {Documents} documents @param {number} i */
function snippet({ rows, words }, documents, i) {
  if (documents.text) return documents.text[i].slice(0, SNIPPET).replace(/\s+/gu, " ");
  if (!rows) return "";
  const at = Array.from(
    { length: rows.indptr[i + 1] - rows.indptr[i] },
    (_, n) => rows.indptr[i] + n,
  );
  return at
    .sort((a, b) => rows.values[b] - rows.values[a])
    .slice(0, 12)
    .map((one) => words[rows.words[one]])
    .join(" ");
}

/** @param {Content} content @param {Documents} documents @param {State} state */
function mountControls(content, documents, state) {
  /** @type {[Scope, string][]} */
  const scopes = [
    ["cluster", "this cluster"],
    ["all", "all clusters"],
  ];
  const scope = segmented("Which documents", scopes, (value) => state.set({ scope: value }));
  /** @type {[Sort, string, string][]} */
  const sorts = [
    ["typical", "typical", "The documents nearest to the prototype first"],
    [
      "ambiguous",
      "in between",
      "The documents between two clusters first: those with the smallest log-odds",
    ],
    ["given", "as given", "In the order of the corpus"],
  ];
  const sort = segmented("Order of documents", sorts, (value) => state.set({ sort: value }));
  const text = make("input", {
    type: "search",
    id: "text-search",
    placeholder: `find in ${documents.text ? "texts and " : ""}${documents.title ? "titles" : "ids"}`,
    "aria-label": "Find documents",
    title: anyCut(documents)
      ? "Long texts are shortened in this report; only what is left of them is searched"
      : null,
  });
  text.addEventListener(
    "input",
    debounced(180, () => state.set({ text: text.value.trim() })),
  );
  const fields = filterFields(content.names, documents, state);
  const clearing = (/** @type {string} */ words) =>
    make("button", {
      type: "button",
      class: "plain",
      text: words,
      on: { click: () => state.set({ text: "", label: -1, rival: -1, from: "", to: "" }) },
    });
  const clear = clearing("clear filters");
  const none = find("no-documents");
  const told = find("document-count");
  find("document-controls").replaceChildren(
    make("div", { class: "controls" }, scope.group, sort.group),
    make("div", { class: "controls" }, text, ...fields.map((field) => field.element), clear),
  );
  const update = (/** @type {Step} */ step, /** @type {number} */ n) => {
    const { now } = state;
    let size = 0;
    for (const k of step.labels) if (k === now.cluster) size++;
    scope.rename("cluster", `this cluster: ${integer(size)}`);
    scope.rename("all", `all: ${integer(step.labels.length)}`);
    scope.choose(now.scope);
    sort.choose(now.sort);
    if (document.activeElement !== text) text.value = now.text;
    for (const field of fields) field.update(now);
    clear.hidden = !(now.text || now.label >= 0 || now.rival >= 0 || now.from || now.to);
    const exact = step.exact ? "" : "; cosines and log-odds are those of the chosen β";
    told.textContent = `${counted(n, "document")}${exact}`;
    none.hidden = n > 0;
    find("document-list").hidden = n === 0;
    if (clear.hidden) none.replaceChildren(`No document is in this cluster${atThisBeta(content)}.`);
    else none.replaceChildren("No document matches: ", clearing("clear the filters"), ".");
  };
  return { update };
}

// Choices of label, next-best cluster and dates, where the corpus has them.
/** @param {string[]} names @param {Documents} documents @param {State} state @returns {Field[]} */
function filterFields(names, documents, state) {
  /** @type {Field[]} */
  const fields = [];
  if (documents.label_names) {
    const columns = documents.label_columns ?? [];
    fields.push(choice("label", "any label", documents.label_names, state, columns));
  }
  if (documents.runner_up) fields.push(choice("rival", "next best: any", names, state));
  if (documents.date) {
    for (const key of /** @type {("from" | "to")[]} */ (["from", "to"])) {
      const label = capital(key);
      const input = make("input", {
        type: "date",
        "aria-label": `${label} this day`,
        title: `${label} this day`,
      });
      input.addEventListener("change", () => state.set({ [key]: input.value }));
      fields.push({ element: input, update: (now) => void (input.value = now[key]) });
    }
  }
  return fields;
}

/**
 * @param {"label" | "rival"} key @param {string} any @param {string[]} names @param {State} state
 * @param {LabelColumn[]} columns @returns {Field}
 */
function choice(key, any, names, state, columns = []) {
  const label = key === "label" ? "Label" : "Next-best cluster";
  const select = make("select", { id: `filter-${key}`, "aria-label": label, title: label });
  select.append(make("option", { value: "-1", text: any }));
  const options = names.map((name, i) => make("option", { value: i, text: name || "(empty)" }));
  if (columns.length < 2) select.append(...options);
  for (const { name, start, stop } of columns.length < 2 ? [] : columns)
    select.append(make("optgroup", { label: name }, ...options.slice(start, stop)));
  select.addEventListener("change", () => state.set({ [key]: Number(select.value) }));
  return { element: select, update: (now) => void (select.value = String(now[key])) };
}
