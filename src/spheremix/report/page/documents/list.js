// The list of documents, and what chooses and orders those that are listed.

import {
  borderlineReason,
  borderlineText,
  certaintyText,
  countSure,
  secondText,
  scopeText,
  SURE_NAMES,
  SURE_ORDER,
  sureOf,
  sureScope,
  sureText,
} from "../groups/certainty.js";
import { bdi, createList, debounced, find, make, selectOf, textButton } from "../lib/dom.js";
import { atThisBeta, capital, countedRows, integer } from "../lib/format.js";
import { anyCut, createSearch, listDocuments, listedIds, nameOf } from "./filters.js";

/** @import { App, Content, Documents, Key, LabelColumn, Now, Scope, Sort, State, Sure } from "../types.d.ts" */

// Pixels of a row, as in the style sheet: with a second line, and without one.
const ROW = 46;
const SHORT = 28;
const SNIPPET = 160; // characters
/** @type {Key[]} */
const LISTED_BY = [
  "group",
  "node",
  "cut",
  "step",
  "scope",
  "sort",
  "sure",
  "rival",
  "label",
  "from",
  "to",
  "text",
  "edited",
  "lassoed",
];
const TAGS = 2; // labels of a row; the reader shows all
/** @type {Record<Sure, string>} */
const ADVICE = {
  borderline: "Do not rely on its group.",
  nowhere: "It fits no group.",
  probably: "Look twice.",
  clearly: "You can rely on it as far as on its group.",
};

/** @param {App} app */
export function mountDocuments(app) {
  const { content, state } = app;
  const { documents } = content;
  if (!documents) {
    find("documents").hidden = true;
    find("skip").hidden = true;
    find("reader").hidden = true;
    document.body.classList.add("no-documents");
    return { move: () => {}, listed: () => [] };
  }
  const search = createSearch(documents);
  const row = (/** @type {number} */ i) => documentRow(app, documents, i);
  const short = !documents.text && !content.rows;
  const box = find("document-list");
  find("skip").addEventListener("click", () => box.focus());
  box.classList.toggle("short", short);
  const list = createList(box, short ? SHORT : ROW, row, (i) => {
    state.set({ document: i });
    // In one column the reader is below the list.
    if (matchMedia("(max-width: 760px)").matches) find("reader").scrollIntoView();
  });
  const controls = mountControls(app, documents, search);

  const draw = () => {
    const ids = listedIds(state.now, app.edits);
    const found = listDocuments(documents, app.groups(), state.now, search, content, ids);
    const inside = app.lasso.has;
    list.show(inside ? found.filter(inside) : found, state.now.document);
    controls.update(list.items());
  };
  state.followAtRest(LISTED_BY, draw);
  state.follow(["document"], () => list.choose(state.now.document));

  const move = (/** @type {number} */ by) => {
    const items = list.items();
    const at = items.indexOf(state.now.document) + by;
    if (items.length) state.set({ document: items[Math.max(0, Math.min(items.length - 1, at))] });
  };
  return { move, listed: list.items };
}

/** @param {App} app @param {Documents} documents @param {number} i */
function documentRow({ content, state, groups, edits }, documents, i) {
  const several = state.now.scope === "all" || listedIds(state.now, edits).length > 1;
  const sure = sureOf(content, documents, i);
  const group = several && sure !== "nowhere" ? groups().byId.get(groups().labels[i]) : null;
  const unsure = sure === "borderline" || state.now.sort === "ambiguous";
  // With other words or another number of groups, it may be in another group than in the model.
  const stays = groups().labels[i] === documents.group[i];
  const moved = groups().exact && !stays;
  const next = unsure && groups().exact && stays ? secondText(content, documents, i) : "";
  const tags = [group?.name(), next].map(
    (text) => text && bdi(text, { class: "tag", title: text }),
  );
  const below = Boolean(documents.text || content.rows);
  const why = borderlineReason(content, documents, i);
  const scope = sureScope(content, state.now);
  const own = content.names[documents.group[i]] ?? "no group";
  const told = `${capital(certaintyText(content, documents, i))}${why ? `: ${why}` : ""}.`;
  const title = moved
    ? `It has changed group: with the chosen number of words it is in “${own}”. How sure is told for that one.`
    : `${scope && `${capital(scope)}: `}${told} ${ADVICE[sure]}`;
  return make(
    "div",
    { class: edits.isMisplaced(documents.id[i]) ? "document misplaced" : "document" },
    make(
      "div",
      { class: "line" },
      bdi(nameOf(documents, i), { class: "id", title: documents.id[i] }),
      documents.date?.[i] ? make("span", { class: "soft", text: documents.date[i] }) : null,
      ...labelTags(documents, i).slice(0, TAGS),
      ...(below ? [] : tags),
      make("span", {
        class: moved ? "sure moved" : `sure ${sure}`,
        title,
        text: moved
          ? "changed group"
          : sureText(content, documents, i, state.now.sure === "borderline"),
      }),
    ),
    below ? make("div", { class: "snippet" }, ...tags, bdi(snippet(content, documents, i))) : null,
  );
}

/** @param {Documents} documents @param {number} i */
export function labelTags({ labels, label_names: names }, i) {
  return (labels?.[i] ?? []).map((label) =>
    bdi(names?.[label] ?? "", { class: "tag soft", title: names?.[label] }),
  );
}

// Return the beginning of the text; without texts, the words that weigh most.
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

// What chooses and orders the documents that are listed.

/** @typedef {{ element: HTMLElement, update: (now: Now) => void }} Field */
/** @typedef {(text: string) => (i: number) => boolean} Search */

/** @param {App} app @param {Documents} documents @param {Search} search */
export function mountControls(app, documents, search) {
  const { content, state } = app;
  const sort = sortChoice(documents, state);
  const scope = scopeChoice(state);
  const sure = sureChoice(app, documents, search);
  const text = textField(documents, state);
  const fields = filterFields(content.names, documents, state);
  const clearing = (/** @type {string} */ words) =>
    textButton(words, () => {
      app.lasso.set([]);
      state.set({ text: "", sure: "", label: -1, rival: -1, from: "", to: "" });
    });
  const clear = clearing("clear filters");
  const more = make("details", { class: "filters" }, make("summary", { text: "filter" }));
  more.append(
    make("div", { class: "controls" }, sure.select, ...fields.map(({ element }) => element)),
  );
  const unclear = make("p", {
    id: "borderline-count",
    class: "soft",
    role: "status",
    hidden: true,
  });
  find("document-controls").replaceChildren(
    make("div", { class: "controls" }, sort, scope.select, text, more, clear),
    unclear,
  );
  const none = find("no-documents");
  const told = find("document-count");
  const update = (/** @type {number[]} */ items) => {
    const { now } = state;
    const n = items.length;
    const { labels } = app.groups();
    const ids = listedIds(now, app.edits);
    let size = 0;
    for (const one of labels) if (ids.includes(one)) size++;
    scope.update(now.scope, ids.length, size, labels.length);
    const asked = now.sort === "ambiguous" || now.sure === "borderline";
    const sorted = now.sort === "ambiguous";
    unclear.textContent = asked ? borderlineText(content, documents, items, sorted) : "";
    sure.update(now, ids);
    unclear.hidden = !unclear.textContent;
    sort.value = now.sort;
    if (document.activeElement !== text) text.value = now.text;
    for (const field of fields) field.update(now);
    const filtered = now.label >= 0 || now.rival >= 0 || now.from || now.to;
    clear.hidden = !(now.text || now.sure || filtered || now.lassoed);
    if (filtered || now.sure) more.open = true;
    const other = scopeText(content, now);
    const exact = other && `; ${other}`;
    const drawn = now.lassoed ? " drawn around on the map" : "";
    const own = ids.length > 1 ? "the groups to be merged" : "this group";
    const where = now.scope === "all" ? "all groups" : own;
    told.textContent = `${countedRows(n)} of ${where}${drawn}${exact}`;
    none.hidden = n > 0;
    find("document-list").hidden = n === 0;
    if (clear.hidden) none.replaceChildren(`No document is in this group${atThisBeta(content)}.`);
    else none.replaceChildren("No document matches: ", clearing("clear the filters"), ".");
  };
  return { update };
}

/** @param {Documents} documents @param {State} state */
function sortChoice(documents, state) {
  /** @type {[Sort, string][]} */
  const sorts = [
    ["typical", "typical first"],
    ["ambiguous", "least sure first"],
    documents.date ? ["newest", "newest first"] : ["given", "file order"],
    ["unlike", "most unlike first"],
  ];
  return selectOf("sort", "Order of documents", sorts, (value) =>
    state.set({ sort: /** @type {Sort} */ (value) }),
  );
}

/** @param {State} state */
function scopeChoice(state) {
  /** @type {[Scope, string][]} */
  const scopes = [
    ["group", "this group"],
    ["all", "all groups"],
  ];
  const select = selectOf("scope", "Which documents", scopes, (value) =>
    state.set({ scope: /** @type {Scope} */ (value) }),
  );
  /** @type {(scope: Scope, n: number, size: number, all: number) => void} */
  const update = (scope, n, size, all) => {
    const which = n > 1 ? "to be merged" : "this group";
    select.options[0].textContent = `${which}: ${integer(size)}`;
    select.options[1].textContent = `all groups: ${integer(all)}`;
    select.value = scope;
  };
  return { select, update };
}

// Return the choice of how sure listed documents are, with how many there are. Other filters count.
/** @param {App} app @param {Documents} documents @param {Search} search */
function sureChoice(app, documents, search) {
  const { content, state } = app;
  const shown = SURE_ORDER.filter((one) => one !== "nowhere" || content.model.has_nowhere);
  /** @type {[string, string][]} */
  const choices = [
    ["", "how sure: any"],
    ...shown.map((one) => /** @type {[string, string]} */ ([one, ""])),
  ];
  const select = selectOf("filter-sure", "How sure", choices, (sure) =>
    state.set({ sure: /** @type {Sure | ""} */ (sure) }),
  );
  select.title = "Only documents that are so surely in their group";
  const update = (/** @type {Now} */ now, /** @type {number[]} */ ids) => {
    const all = { ...now, sure: /** @type {const} */ (""), sort: /** @type {const} */ ("given") };
    const found = listDocuments(documents, app.groups(), all, search, content, ids);
    const inside = app.lasso.has;
    const counts = countSure(content, documents, inside ? found.filter(inside) : found);
    shown.forEach((one, i) => {
      select.options[i + 1].textContent = `${SURE_NAMES[one]}: ${integer(counts[one])}`;
    });
    select.value = now.sure;
  };
  return { select, update };
}

/** @param {Documents} documents @param {State} state */
function textField(documents, state) {
  const text = make("input", {
    type: "search",
    id: "text-search",
    placeholder: `find in ${documents.text ? "texts" : documents.title ? "titles" : "ids"}`,
    "aria-label": "Find documents",
    title: anyCut(documents)
      ? "Long texts are shortened in this report; only what is left of them is searched"
      : null,
  });
  text.addEventListener(
    "input",
    debounced(180, () => state.set({ text: text.value.trim() })),
  );
  return text;
}

// Return the choices of label, second group and dates, where the corpus has them.
/** @param {string[]} names @param {Documents} documents @param {State} state @returns {Field[]} */
function filterFields(names, documents, state) {
  /** @type {Field[]} */
  const fields = [];
  if (documents.label_names) {
    const columns = documents.label_columns ?? [];
    const counts = new Uint32Array(documents.label_names.length);
    for (const own of documents.labels ?? []) for (const one of own) counts[one]++;
    const named = documents.label_names.map(
      (name, label) => `${name || "(empty)"}: ${integer(counts[label])}`,
    );
    fields.push(choice("label", "any label", named, state, columns));
  }
  if (documents.second_group) fields.push(choice("rival", "second group: any", names, state));
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
  const label = key === "label" ? "Label" : "Second group";
  const select = make("select", { id: `filter-${key}`, "aria-label": label, title: label });
  select.append(make("option", { value: "-1", text: any }));
  const options = names.map((name, i) => make("option", { value: i, text: name }));
  if (columns.length < 2) select.append(...options);
  for (const { name, start, stop } of columns.length < 2 ? [] : columns)
    select.append(make("optgroup", { label: name }, ...options.slice(start, stop)));
  select.addEventListener("change", () => state.set({ [key]: Number(select.value) }));
  return { element: select, update: (now) => void (select.value = String(now[key])) };
}
