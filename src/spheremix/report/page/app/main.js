// The report, put together.

import { mountDocuments } from "../documents/list.js";
import { mountReader } from "../documents/reader.js";
import { createEdits } from "../edits/edits.js";
import { mountEdits } from "../edits/dialog.js";
import { mountCard } from "../groups/card.js";
import { createGroupings } from "../groups/grouping.js";
import { mountGroups, moveGroup } from "../groups/list.js";
import { mountGroupSlider, mountSlider } from "../groups/sliders.js";
import { readContent } from "../lib/content.js";
import { find, make } from "../lib/dom.js";
import { nameRows } from "../lib/format.js";
import { colourNames, createLasso, mountMapTab } from "../map/tab.js";
import { mountCorpus } from "../tabs/corpus.js";
import { mountLabels } from "../tabs/labels.js";
import { mountCandidates } from "../tabs/numbers.js";
import { mountTime, reachesOf } from "../tabs/time.js";
import { mountMap, mountWordLine } from "../words/map.js";
import { createSteps } from "../words/steps.js";
import { mountChips } from "./chips.js";
import { mountHeader, mountTheme } from "./header.js";
import { mountKeys } from "./keys.js";
import { mountLink } from "./link.js";
import { mountNotebook } from "./notebook.js";
import { mountSave } from "./save.js";
import { mountSearch } from "./search.js";
import { createState } from "./state.js";
import { mountTabs, tabsOf } from "./tabs.js";

/** @import { App, Content, Limits, Now } from "../types.d.ts" */

/** @param {Content} content @param {App["groupsAt"]} groupsAt */
function initialState(content, groupsAt) {
  const { steps, model, documents, words, tree } = content;
  const n = documents?.id.length ?? 0;
  const labels = documents?.label_names?.length ?? 0;
  const rivals = documents?.second_group ? model.n_groups : 0;
  const days = documents?.date ? /^(?:\d{4}-\d{2}-\d{2})?$/u : [""];
  const tabs = tabsOf(content).map(([name]) => name);
  const data = content.rows && content.labels ? ["data"] : [];
  /** @type {Now} */
  const defaults = {
    step: content.chosen,
    cut: 0,
    group: groupsAt({ cut: 0, step: content.chosen }).groups[0].id,
    node: -1,
    compared: -1,
    edited: 0,
    document: -1,
    word: -1,
    tab: tabs[0],
    zoom: [0, 1],
    scope: "group",
    list: "typical",
    sort: "central",
    column: 0,
    measure: "group",
    sorted: -1,
    labels: "frequent",
    amount: "count",
    scale: "own",
    smooth: "0",
    text: "",
    lasso: "",
    view: "",
    colour: "group",
    label: -1,
    rival: -1,
    from: "",
    to: "",
    candidate: -1,
    theme: "auto",
  };
  // An address may have a number of groups and a group that it does not have.
  const mend = (/** @type {Now} */ now) => {
    const cut = now.cut === 1 ? 0 : now.cut;
    const { byId, groups } = groupsAt({ cut, step: now.step });
    const key = cut ? "node" : "group";
    return { cut, ...(!byId.has(now[key]) && { [key]: groups[0].id }) };
  };
  /** @type {Limits} */
  const limits = {
    step: [0, steps.length - 1],
    cut: [0, documents?.leaf && tree ? tree.leaves : 0],
    group: [0, model.n_groups + 2 * (tree?.leaves ?? 0)], // parts have numbers after the groups
    node: [-1, tree ? 2 * tree.leaves - 2 + Number(model.has_nowhere) : -1],
    compared: [-1, model.n_groups + 2 * (tree?.leaves ?? 0)],
    document: [-1, n - 1],
    word: [-1, words.length - 1],
    tab: [...tabs, ...data],
    scope: ["group", "all"],
    list: ["typical", "borderline", "all"],
    sort: ["central", "share", "unsure", "newest", "unlike", "given"],
    column: [0, (documents?.label_columns?.length ?? 1) - 1],
    measure: ["group", "label", "count"],
    sorted: [-1, labels - 1],
    labels: ["frequent", "all"],
    amount: ["count", "share"],
    scale: ["own", "one"],
    smooth: reachesOf(content).map(String),
    lasso: /^(?:\d{1,4},\d{1,4}(?:,|$)){0,60}$/u,
    view: /^(?:-?\d\.\d{1,4},-?\d\.\d{1,4},\d{1,2}\.\d{1,2})?$/u,
    colour: content.layout && documents ? colourNames(content, documents) : ["group"],
    label: [-1, labels - 1],
    rival: [-1, rivals - 1],
    from: days,
    to: days,
    candidate: [-1, content.candidates.length - 1],
    theme: ["auto", "light", "dark"],
  };
  return createState(defaults, limits, mend);
}

// Return what changes with an edit: a group that is gone is no longer chosen.
/** @param {Now} before @param {App["groupsAt"]} groupsAt @param {Partial<Now>} more @returns {Partial<Now>} */
function afterEdit(before, groupsAt, more) {
  const now = { ...before, ...more };
  const { byId, holderOf, groups } = groupsAt(now);
  const there = (/** @type {number} */ id) => byId.has(id);
  const group = [now.group, holderOf(now.group)].find(there) ?? groups[0].id;
  return {
    ...more,
    edited: now.edited + 1,
    ...(!now.cut && { group }),
    ...(!there(now.compared) && { compared: -1 }),
  };
}

/** @param {Content} content @returns {App} */
function createApp(content) {
  nameRows(content);
  const stepOf = createSteps(content);
  const edits = createEdits(content, (more) => state.set(afterEdit(state.now, groupsAt, more)));
  const groupsAt = createGroupings(content, stepOf, edits.plan);
  const state = initialState(content, groupsAt);
  const groups = () => groupsAt(state.now);
  return { content, stepOf, state, groups, groupsAt, edits, lasso: createLasso(content, state) };
}

/** @param {Content} content */
function mount(content) {
  const app = createApp(content);
  // The first screen first.
  /** @type {ReturnType<typeof mountMap> | null} */
  let map = null;
  /** @type {ReturnType<typeof mountMapTab>} */
  let points = null;
  const onPaper = mountTheme(
    app.state,
    () => {
      map?.recolour();
      points?.recolour();
    },
    () => {
      map?.print();
      if (app.state.now.tab === "map") points?.print();
    },
  );
  mountHeader(app);
  mountGroups(app);
  mountTabs(app);
  mountGroupSlider(app);
  mountSlider(app);
  points = mountMapTab(app);
  map = mountMap(app);
  mountCard(app);
  const documents = mountDocuments(app);
  performance.mark("first-screen");
  mountReader(app, documents);
  mountSearch(app);
  const takeLast = mountChips(app);
  mountLink();
  mountWordLine(app);
  mountLabels(app);
  mountTime(app);
  mountCandidates(app);
  mountCorpus(app);
  mountEdits(app);
  mountNotebook(app, documents.found);
  mountSave(app, documents.listed, { words: map.figure, documents: points, onPaper });
  mountKeys(app, {
    moveGroup: (/** @type {number} */ by) => moveGroup(app, by),
    moveDocument: documents.move,
    takeLast,
    shownMap: () => {
      const { tab } = app.state.now;
      return tab === "map" ? points : tab === "prototypes" || tab === "data" ? map : null;
    },
  });
  document.body.dataset.ready = "yes";
}

readContent(find("content").textContent)
  .then(mount)
  .catch((error) => {
    find("facts").replaceChildren(
      make("strong", { text: `This report cannot be shown: ${error.message}` }),
    );
    throw error;
  });
