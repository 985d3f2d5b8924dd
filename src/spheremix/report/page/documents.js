// The documents: most typical, most ambiguous or as they came; found by text, label and date.

import { bdi, debounced, find, make, segmented } from "./dom.js";
import { atThisBeta, counted, decimal, integer } from "./format.js";
import { createList } from "./list.js";
import { anyCut, createSearch, listDocuments } from "./filters.js";

// Pixels of a row, as in the style sheet: with a second line, and without one.
const ROW = 50;
const SHORT = 30;
const SNIPPET = 160; // characters

export function mountDocuments({ content, state, stepOf }) {
  const { documents } = content;
  if (!documents) {
    find("documents").hidden = true;
    find("reader").hidden = true;
    return { move() {}, listed: () => [] };
  }
  const step = () => stepOf(state.now.step);
  const search = createSearch(documents);
  const row = (i) => documentRow(content, step(), i, state.now.scope === "all");
  const short = !documents.text && !content.rows;
  const box = find("document-list");
  box.classList.toggle("short", short);
  const list = createList(box, short ? SHORT : ROW, row, (i) => {
    state.set({ document: i });
    // In one column the reader is below the list.
    if (matchMedia("(max-width: 760px)").matches) find("reader").scrollIntoView();
  });
  const controls = mountControls(content, state);

  const draw = () => {
    list.show(listDocuments(documents, step(), state.now, search), state.now.document);
    controls.update(step(), list.items().length);
  };
  state.followAtRest(
    ["cluster", "step", "scope", "sort", "rival", "label", "from", "to", "text"],
    draw,
  );
  state.follow(["document"], () => list.choose(state.now.document));

  const move = (by) => {
    const items = list.items();
    const at = items.indexOf(state.now.document) + by;
    if (items.length) state.set({ document: items[Math.max(0, Math.min(items.length - 1, at))] });
  };
  return { move, listed: list.items };
}

function documentRow(content, step, i, named) {
  const { documents } = content;
  const odds = documents.log_odds[i];
  const against = odds === Infinity ? "" : ` · log-odds ${decimal(odds)}`;
  return make(
    "div",
    { class: "document" },
    make(
      "div",
      { class: "line" },
      bdi(documents.id[i], { class: "id" }),
      named ? bdi(content.names[step.labels[i]], { class: "tag" }) : null,
      make("span", {
        class: "number soft",
        title: "cosine with the prototype; log-odds against the next-best cluster",
        text: `cos ${documents.cosine[i].toFixed(2)}${against}`,
      }),
    ),
    documents.text || content.rows
      ? make("div", { class: "snippet" }, bdi(snippet(content, i)))
      : null,
  );
}

// The beginning of the text; without texts, the words that weigh most.
function snippet({ documents, rows, words }, i) {
  if (documents.text) return documents.text[i].slice(0, SNIPPET).replace(/\s+/gu, " ");
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

function mountControls(content, state) {
  const scope = segmented(
    "Which documents",
    [
      ["cluster", "this cluster"],
      ["all", "all clusters"],
    ],
    (value) => state.set({ scope: value }),
  );
  const sort = segmented(
    "Order of documents",
    [
      ["typical", "typical", "Nearest to the prototype first"],
      ["ambiguous", "in between", "Those between two clusters first: smallest log-odds"],
      ["given", "as given", "In the order of the corpus"],
    ],
    (value) => state.set({ sort: value }),
  );
  const text = make("input", {
    type: "search",
    id: "text-search",
    placeholder: content.documents.text ? "find in texts and ids" : "find in ids",
    "aria-label": "Find documents",
    title: anyCut(content.documents) ? "Finds what this report has of the texts" : null,
  });
  text.addEventListener(
    "input",
    debounced(180, () => state.set({ text: text.value.trim() })),
  );
  const fields = filterFields(content, state);
  const clearing = (text) =>
    make("button", {
      type: "button",
      class: "plain",
      text,
      on: { click: () => state.set({ text: "", label: -1, rival: -1, from: "", to: "" }) },
    });
  const clear = clearing("clear filters");
  const none = find("no-documents");
  const told = find("document-count");
  find("document-controls").replaceChildren(
    make("div", { class: "controls" }, scope.group, sort.group),
    make("div", { class: "controls" }, text, ...fields.map((field) => field.element), clear),
  );
  const update = (step, n) => {
    const { now } = state;
    const size = step.labels.reduce((sum, k) => sum + (k === now.cluster), 0);
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
function filterFields({ documents, names }, state) {
  const fields = [];
  if (documents.labels) fields.push(choice("label", "any label", documents.label_names, state));
  if (documents.runner_up) fields.push(choice("rival", "next best: any", names, state));
  if (documents.date) {
    for (const [key, label] of [
      ["from", "From"],
      ["to", "To"],
    ]) {
      const input = make("input", {
        type: "date",
        "aria-label": `${label} this day`,
        title: `${label} this day`,
      });
      input.addEventListener("change", () => state.set({ [key]: input.value }));
      fields.push({ element: input, update: (now) => (input.value = now[key]) });
    }
  }
  return fields;
}

function choice(key, any, names, state) {
  const label = key === "label" ? "Label" : "Next-best cluster";
  const select = make("select", { id: `filter-${key}`, "aria-label": label, title: label });
  select.append(make("option", { value: "-1", text: any }));
  names.forEach((name, i) => select.append(make("option", { value: i, text: name || "(empty)" })));
  select.addEventListener("change", () => state.set({ [key]: Number(select.value) }));
  return { element: select, update: (now) => (select.value = String(now[key])) };
}
