// What chooses and orders the documents that are listed.

import { debounced, find, make, segmented } from "./dom.js";
import { atThisBeta, capital, counted, integer } from "./format.js";
import { borderlineText, countSure, scopeText, SURE_NAMES, SURE_ORDER } from "./certainty.js";
import { anyCut, listDocuments, listedIds } from "./filters.js";

/** @import { App, Documents, LabelColumn, Now, Scope, Sort, State, Sure } from "./types.d.ts" */

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
    make("button", {
      type: "button",
      class: "plain",
      text: words,
      on: {
        click: () => {
          app.lasso.set([]);
          state.set({ text: "", sure: "", label: -1, rival: -1, from: "", to: "" });
        },
      },
    });
  const clear = clearing("clear filters");
  const more = make("details", { class: "filters" }, make("summary", { text: "filter" }));
  more.append(make("div", { class: "controls" }, ...fields.map(({ element }) => element)));
  const unclear = make("p", {
    id: "borderline-count",
    class: "soft",
    role: "status",
    hidden: true,
  });
  find("document-controls").replaceChildren(
    make(
      "div",
      { class: "controls" },
      make("span", { class: "order-name soft", text: "first:", "aria-hidden": "true" }),
      sort.group,
      scope.select,
      sure.select,
      text,
      more,
      clear,
    ),
    unclear,
  );
  more.hidden = !fields.length;
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
    sort.choose(now.sort);
    if (document.activeElement !== text) text.value = now.text;
    for (const field of fields) field.update(now);
    const filtered = now.label >= 0 || now.rival >= 0 || now.from || now.to;
    clear.hidden = !(now.text || now.sure || filtered || now.lassoed);
    if (filtered) more.open = true;
    const other = scopeText(content, now);
    const exact = other && `; ${other}`;
    const drawn = now.lassoed ? " drawn around on the map" : "";
    const own = ids.length > 1 ? "the groups to be merged" : "this group";
    const where = now.scope === "all" ? "all groups" : own;
    told.textContent = `${counted(n, "document")} of ${where}${drawn}${exact}`;
    none.hidden = n > 0;
    find("document-list").hidden = n === 0;
    if (clear.hidden) none.replaceChildren(`No document is in this group${atThisBeta(content)}.`);
    else none.replaceChildren("No document matches: ", clearing("clear the filters"), ".");
  };
  return { update };
}

/** @param {Documents} documents @param {State} state */
function sortChoice(documents, state) {
  /** @type {[Sort, string, string][]} */
  const sorts = [
    ["typical", "typical", "The documents nearest to the middle of the group first"],
    [
      "ambiguous",
      "least sure",
      "First the documents whose group you should not rely on: they almost belong to another",
    ],
    documents.date
      ? ["newest", "newest", "The newest documents first"]
      : ["given", "file order", "In the order of the file"],
    ["unlike", "most unlike", "The documents least like the others of the group first"],
  ];
  return segmented("Order of documents", sorts, (value) => state.set({ sort: value }));
}

/** @param {State} state */
function scopeChoice(state) {
  const select = make("select", { id: "scope", "aria-label": "Which documents" });
  /** @type {[Scope, string][]} */
  const scopes = [
    ["cluster", "this group"],
    ["all", "all groups"],
  ];
  const options = scopes.map(([value, text]) => make("option", { value, text }));
  select.append(...options);
  select.addEventListener("change", () =>
    state.set({ scope: /** @type {Scope} */ (select.value) }),
  );
  const update = (
    /** @type {Scope} */ scope,
    /** @type {number} */ n,
    /** @type {number} */ size,
    /** @type {number} */ all,
  ) => {
    const which = n > 1 ? "to be merged" : "this group";
    options[0].textContent = `${which}: ${integer(size)}`;
    options[1].textContent = `all groups: ${integer(all)}`;
    select.value = scope;
  };
  return { select, update };
}

// Only documents that are so surely in their group, with how many there are. What else is chosen counts.
/** @param {App} app @param {Documents} documents @param {Search} search */
function sureChoice(app, documents, search) {
  const { content, state } = app;
  const label = "How sure";
  const select = make("select", {
    id: "filter-sure",
    "aria-label": label,
    title: "Only documents that are so surely in their group",
  });
  const any = make("option", { value: "", text: "how sure: any" });
  const shown = SURE_ORDER.filter((one) => one !== "nowhere" || content.model.has_nowhere);
  /** @type {Map<Sure, HTMLOptionElement>} */
  const options = new Map(shown.map((one) => [one, make("option", { value: one })]));
  select.append(any, ...options.values());
  select.addEventListener("change", () =>
    state.set({ sure: /** @type {Sure | ""} */ (select.value) }),
  );
  const update = (/** @type {Now} */ now, /** @type {number[]} */ ids) => {
    const all = { ...now, sure: /** @type {const} */ (""), sort: /** @type {const} */ ("given") };
    const found = listDocuments(documents, app.groups(), all, search, content, ids);
    const inside = app.lasso.has;
    const counts = countSure(content, documents, inside ? found.filter(inside) : found);
    for (const [one, option] of options)
      option.textContent = `${SURE_NAMES[one]}: ${integer(counts[one])}`;
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

// Choices of label, next-best group and dates, where the corpus has them.
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
  const label = key === "label" ? "Label" : "Next-best group";
  const select = make("select", { id: `filter-${key}`, "aria-label": label, title: label });
  select.append(make("option", { value: "-1", text: any }));
  const options = names.map((name, i) => make("option", { value: i, text: name }));
  if (columns.length < 2) select.append(...options);
  for (const { name, start, stop } of columns.length < 2 ? [] : columns)
    select.append(make("optgroup", { label: name }, ...options.slice(start, stop)));
  select.addEventListener("change", () => state.set({ [key]: Number(select.value) }));
  return { element: select, update: (now) => void (select.value = String(now[key])) };
}
