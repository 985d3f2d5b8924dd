// The list of documents, and what chooses and orders those that are listed.

import {
  borderlineReason,
  borderlineText,
  certaintyText,
  countSure,
  secondText,
  scopeText,
  sureOf,
  sureScope,
  sureText,
} from "../groups/certainty.js";
import { chosenId } from "../groups/grouping.js";
import { bdi, createList, find, make, segmented, selectOf, textButton } from "../lib/dom.js";
import { atThisBeta, capital, countedRows, integer } from "../lib/format.js";
import {
  filterDocuments,
  firstLine,
  isFiltered,
  listDocuments,
  nameOf,
  createSearch,
  UNFILTERED,
} from "./filters.js";
import { shareTag } from "./passages.js";
import { aboutWhole } from "./whole.js";

/** @import { App, Content, Documents, Key, LabelColumn, Listing, Now, Scope, Sort, State, Sure } from "../types.d.ts" */

// Pixels of a row: with a second line, and without one; what a finger finds.
const ROW = 54;
const SHORT = 28;
const FINGER = 40;
const FEW = 0.1; // of the texts may go on after what the only line of a row says
const SNIPPET = 240; // characters: more than the widest row shows
/** @type {Key[]} */
const LISTED_BY = [
  "group",
  "node",
  "cut",
  "step",
  "scope",
  "list",
  "sort",
  "rival",
  "label",
  "word",
  "from",
  "to",
  "text",
  "lasso",
  "edited",
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
    return { move: () => {}, listed: () => [], found: () => [] };
  }
  const search = createSearch(documents);
  const below = hasBelow(content, documents);
  const row = (/** @type {number} */ i) => documentRow(app, documents, i, below);
  const narrow = matchMedia("(max-width: 760px)").matches;
  const height = below ? ROW : narrow ? FINGER : SHORT;
  const box = find("document-list");
  find("skip").addEventListener("click", () => box.focus());
  box.style.setProperty("--row", `${height}px`);
  const list = createList(box, height, row, (i) => {
    state.set({ document: i });
    // In one column the reader is in the place of the group, above the list.
    if (matchMedia("(max-width: 760px)").matches) find("reader").scrollIntoView();
  });
  const controls = mountControls(app, documents);

  /** @type {number[]} */
  let found = [];
  const draw = () => {
    const inside = app.lasso.has();
    const now = { ...state.now, sort: /** @type {const} */ ("given") };
    found = filterDocuments(documents, app.groups(), now, search, content, inside);
    list.show(
      listDocuments(documents, app.groups(), state.now, search, content, inside),
      state.now.document,
    );
    controls.update(list.items(), found);
  };
  state.followAtRest(LISTED_BY, draw);
  state.follow(["document"], () => list.choose(state.now.document));

  const move = (/** @type {number} */ by) => {
    const items = list.items();
    const at = items.indexOf(state.now.document) + by;
    if (items.length) state.set({ document: items[Math.max(0, Math.min(items.length - 1, at))] });
  };
  return { move, listed: list.items, found: () => found };
}

/**
 * Return whether rows have a second line: not where nearly all texts are said by their first.
 * @param {Content} content @param {Documents} documents
 */
function hasBelow({ rows }, { text, title }) {
  if (!text) return Boolean(rows);
  return Boolean(title) || text.filter((one) => firstLine(one).rest).length > FEW * text.length;
}

/** @param {App} app @param {Documents} documents @param {number} i @param {boolean} below */
function documentRow(app, documents, i, below) {
  const { content, state, groups, edits } = app;
  const several = state.now.scope === "all";
  const sure = sureOf(content, documents, i);
  const group = several && sure !== "nowhere" ? groups().byId.get(groups().labels[i]) : null;
  const unsure = sure === "borderline" || state.now.list === "borderline";
  // With other words or another number of groups, it may be in another group than in the model.
  const stays = groups().labels[i] === documents.group[i];
  const moved = groups().exact && !stays;
  const next = unsure && groups().exact && stays ? secondText(content, documents, i) : "";
  const tags = [group?.name(), next].map(
    (text) => text && bdi(text, { class: "tag", title: text }),
  );
  const why = borderlineReason(content, documents, i);
  const scope = sureScope(content, state.now);
  const own = content.names[documents.group[i]] ?? "no group";
  const how = `${capital(certaintyText(content, documents, i))}${why ? `: ${why}` : ""}.`;
  const title = moved
    ? `It has changed group: with the chosen number of words it is in “${own}”. How sure is told for that one.`
    : `${scope && `${capital(scope)}: `}${how} ${ADVICE[sure]}`;
  // In the list of typical documents all are as sure: that is told where it is not “clearly”.
  const told = state.now.list !== "typical" || sure !== "clearly" || moved;
  const said = moved
    ? "changed group"
    : sureText(content, documents, i, state.now.list === "borderline");
  const labels = labelTags(documents, i).slice(0, TAGS);
  return make(
    "div",
    { class: edits.isMisplaced(documents.id[i]) ? "document misplaced" : "document", title },
    make(
      "div",
      { class: "line" },
      bdi(nameOf(documents, i), { class: "id", title: documents.id[i] }),
      documents.date?.[i] ? make("span", { class: "soft date", text: documents.date[i] }) : null,
      shareTag(app, documents, i),
      ...(below ? [] : [...labels, ...tags]),
      told
        ? make("span", { class: moved ? "sure moved" : `sure ${sure}`, title, text: said })
        : null,
    ),
    below
      ? make("div", { class: "snippet" }, ...tags, ...labels, bdi(snippet(content, documents, i)))
      : null,
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
  if (documents.text) {
    const text = documents.text[i];
    const rest = documents.title?.[i] ? text : firstLine(text).rest;
    return rest
      .slice(0, 8 * SNIPPET)
      .replace(/\s+/gu, " ")
      .trim()
      .slice(0, SNIPPET);
  }
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

/** @param {App} app @param {Documents} documents */
export function mountControls(app, documents) {
  const { content, state } = app;
  const lists = segmented(
    "Which documents",
    /** @type {[Listing, string, string][]} */ ([
      ["typical", "Typical", "The most central documents of those that are clearly here"],
      ["borderline", "Borderline", "Documents that may as well be in another group"],
      ["all", "All", "All documents"],
    ]),
    (list) => state.set({ list }),
  );
  const [, borderline, all] = lists.group.querySelectorAll("button");
  borderline.hidden = !documents.second_group;
  const sort = sortChoice(documents, state);
  const scope = scopeChoice(state);
  const fields = filterFields(content.names, documents, state);
  const more = make("details", { class: "filters" }, make("summary", { text: "filter" }));
  more.append(
    make("div", { class: "controls" }, scope.select, sort, ...fields.map(({ element }) => element)),
  );
  const note = make("p", { id: "borderline-count", class: "soft", role: "status", hidden: true });
  find("document-controls").replaceChildren(
    make("div", { class: "controls" }, lists.group, more),
    note,
  );
  const none = find("no-documents");
  const told = find("document-count");
  const update = (/** @type {number[]} */ items, /** @type {number[]} */ found) => {
    const { now } = state;
    const { labels } = app.groups();
    const chosen = chosenId(now);
    let size = 0;
    for (const one of labels) if (one === chosen) size++;
    scope.update(now.scope, size, labels.length);
    lists.choose(now.list);
    const counts = countSure(content, documents, found);
    borderline.textContent = `Borderline ${integer(counts.borderline)}`;
    all.textContent = `All ${integer(found.length)}`;
    const unsure = now.list === "borderline";
    const whole = now.list === "all" && !isFiltered(now) ? aboutWhole(app, found.length) : null;
    note.replaceChildren(
      ...(whole ?? (unsure ? [borderlineText(content, documents, found, items.length > 1)] : [])),
    );
    note.hidden = !note.textContent;
    sort.value = now.sort;
    for (const field of fields) field.update(now);
    const other = scopeText(content, now);
    const exact = other && `; ${other}`;
    const drawn = now.lasso ? " drawn around on the map" : "";
    const where = now.scope === "all" ? "all groups" : "this group";
    const which = now.list === "all" ? "" : `${now.list} `;
    const sampled = documents.counted ? " in the sample" : "";
    told.textContent = `${which}${countedRows(items.length)} of ${where}${sampled}${drawn}${exact}`;
    none.hidden = items.length > 0;
    find("document-list").hidden = items.length === 0;
    if (!items.length) none.replaceChildren(...nothing(app, found.length));
  };
  return { update };
}

// Return what stands in the place of an empty list.
/** @param {App} app @param {number} n how many documents the list of all has */
function nothing({ content, state }, n) {
  if (!n && isFiltered(state.now))
    return [
      "No document matches: ",
      textButton("clear the filters", () => state.set(UNFILTERED)),
      ".",
    ];
  if (!n) return [`No document is in this group${atThisBeta(content)}.`];
  const all = textButton("Show all", () => state.set({ list: "all" }));
  if (state.now.list === "borderline") return ["No document here is borderline. ", all, "."];
  return ["All documents here are borderline: none is typical. ", all, "."];
}

/** @param {Documents} documents @param {State} state */
function sortChoice(documents, state) {
  /** @type {[Sort, string][]} */
  const sorts = [
    ["central", "most central first"],
    ...(documents.passages
      ? [/** @type {[Sort, string]} */ (["share", "documents, largest share first"])]
      : []),
    ["unsure", "least sure first"],
    documents.date ? ["newest", "newest first"] : ["given", "file order"],
    ["unlike", "most unlike first"],
  ];
  return selectOf("sort", "Order of documents", sorts, (value) =>
    state.set({ sort: /** @type {Sort} */ (value), list: "all" }),
  );
}

/** @param {State} state */
function scopeChoice(state) {
  /** @type {[Scope, string][]} */
  const scopes = [
    ["group", "this group"],
    ["all", "all groups"],
  ];
  const select = selectOf("scope", "Of which groups", scopes, (value) =>
    state.set({ scope: /** @type {Scope} */ (value) }),
  );
  /** @type {(scope: Scope, size: number, all: number) => void} */
  const update = (scope, size, all) => {
    select.options[0].textContent = `this group: ${integer(size)}`;
    select.options[1].textContent = `all groups: ${integer(all)}`;
    select.value = scope;
  };
  return { select, update };
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
      input.addEventListener("change", () => state.set({ [key]: input.value, list: "all" }));
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
  select.addEventListener("change", () => state.set({ [key]: Number(select.value), list: "all" }));
  return { element: select, update: (now) => void (select.value = String(now[key])) };
}
