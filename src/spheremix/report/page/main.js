// The report, put together.

import { find, make } from "./dom.js";
import { readContent } from "./content.js";
import { createState } from "./state.js";
import { createSteps } from "./order.js";
import { mountHeader } from "./header.js";
import { mountClusters, moveCluster } from "./clusters.js";
import { mountTabs } from "./tabs.js";
import { mountMap } from "./map.js";
import { mountSlider } from "./slider.js";
import { mountSearch } from "./search.js";
import { mountWordLine } from "./word_line.js";
import { mountCard } from "./card.js";
import { mountDocuments } from "./documents.js";
import { mountReader } from "./reader.js";
import { mountCandidates } from "./candidates.js";
import { mountCorpus } from "./corpus.js";
import { mountSave } from "./save.js";
import { mountTheme } from "./theme.js";
import { mountKeys } from "./keys.js";

/** @import { Content, Now, StepOf } from "./types.d.ts" */

/** @param {Content} content @param {StepOf} stepOf */
function initialState(content, stepOf) {
  const { steps, model, documents, words } = content;
  const n = documents?.id.length ?? 0;
  const labels = documents?.label_names?.length ?? 0;
  const rivals = documents?.runner_up ? model.n_clusters : 0;
  const days = documents?.date ? /^(?:\d{4}-\d{2}-\d{2})?$/u : [""];
  const maps = content.rows && content.labels ? ["prototypes", "data"] : ["prototypes"];
  /** @type {Now} */
  const defaults = {
    step: content.chosen,
    cluster: stepOf(content.chosen).clusters[0],
    document: -1,
    word: -1,
    tab: "prototypes",
    zoom: [0, 1],
    scope: "cluster",
    sort: "typical",
    text: "",
    label: -1,
    rival: -1,
    from: "",
    to: "",
    candidate: -1,
    theme: "auto",
  };
  return createState(defaults, {
    step: [0, steps.length - 1],
    cluster: [0, model.n_clusters - 1],
    document: [-1, n - 1],
    word: [-1, words.length - 1],
    tab: [...maps, "candidates", "corpus"],
    scope: ["cluster", "all"],
    sort: ["typical", "ambiguous", "given"],
    label: [-1, labels - 1],
    rival: [-1, rivals - 1],
    from: days,
    to: days,
    candidate: [-1, content.candidates.length - 1],
    theme: ["auto", "light", "dark"],
  });
}

/** @param {Content} content */
function mount(content) {
  const stepOf = createSteps(content);
  const app = {
    content,
    stepOf,
    state: initialState(content, stepOf),
  };
  // The first screen first.
  mountHeader(app);
  mountClusters(app);
  mountTabs(app);
  /** @type {ReturnType<typeof mountMap> | null} */
  let map = null;
  mountTheme(
    app.state,
    () => map?.recolour(),
    () => map?.print(),
  );
  mountSlider(app);
  map = mountMap(app);
  performance.mark("first-screen");
  mountCard(app);
  const documents = mountDocuments(app);
  mountReader(app);
  mountSearch(app);
  mountWordLine(app);
  mountCandidates(app);
  mountCorpus(app);
  mountSave(app, documents.listed);
  mountKeys(app, {
    moveCluster: (/** @type {number} */ by) => moveCluster(app, by),
    moveDocument: documents.move,
    zoom: map.zoom,
    pan: map.pan,
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
