// The documents of the group: typical, borderline, newest or most unlike; found by text, label, date.

import { bdi, find, make } from "./dom.js";
import { capital } from "./format.js";
import { createList } from "./list.js";
import { createSearch, listDocuments, listedIds, nameOf } from "./filters.js";
import {
  borderlineReason,
  certaintyText,
  nextText,
  sureOf,
  sureScope,
  sureText,
} from "./certainty.js";
import { mountControls } from "./document_controls.js";

/** @import { App, Content, Documents, Key, Sure } from "./types.d.ts" */

// Pixels of a row, as in the style sheet: with a second line, and without one.
const ROW = 46;
const SHORT = 28;
const SNIPPET = 160; // characters
/** @type {Key[]} */
const LISTED_BY = [
  "cluster",
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
  const stays = groups().labels[i] === documents.cluster[i];
  const moved = groups().exact && !stays;
  const next = unsure && groups().exact && stays ? nextText(content, documents, i) : "";
  const tags = [group?.name(), next].map(
    (text) => text && bdi(text, { class: "tag", title: text }),
  );
  const below = Boolean(documents.text || content.rows);
  const why = borderlineReason(content, documents, i);
  const scope = sureScope(content, state.now);
  const own = content.names[documents.cluster[i]] ?? "no group";
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
