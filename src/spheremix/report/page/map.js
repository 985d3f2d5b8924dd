// The frame of both maps: a canvas with rows of clusters and columns of words, zoom and choice.

import { contextOf, find, make, segmented } from "./dom.js";
import { counted, nounOf } from "./format.js";
import { createColumns, createRows, panBy, zoomBy } from "./columns.js";
import { createPalette, seenHues, themeColours } from "./colours.js";
import { drawLabels, drawRowNames, drawWordsBelow, HEAD } from "./map_labels.js";
import { drawHeavyWords } from "./map_words.js";
import { drawMarks } from "./map_marks.js";
import { paintPrototypes } from "./prototypes.js";
import { paintDocuments } from "./data_map.js";
import { createMapTooltip } from "./map_tooltip.js";
import { createSvgContext } from "./svg_context.js";
import { listenToPointer } from "./map_pointer.js";

/** @import { App, Content, Context, Now, State, Step, Target, View, Zoom } from "./types.d.ts" */

const BELOW = 84; // pixels for upright words, where columns are wide enough for them
const WIDE = 11;

/** @param {App} app */
export function mountMap(app) {
  const { content, state, stepOf } = app;
  const marks = find("marks");
  const frame = find("frame");
  const tooltip = createMapTooltip(content, frame);
  /** @type {View | null} */
  let view = null;
  let colours = themeColours();
  let hues = seenHues(content.hues, colours);
  let palette = createPalette(hues, colours);

  const draw = (scale = devicePixelRatio || 1) => {
    if (!frame.clientWidth || !frame.clientHeight) return;
    const step = stepOf(state.now.step);
    view = {
      content,
      step,
      hues,
      palette,
      colours,
      scale,
      ...measure(frame, step, state.now.zoom),
    };
    drawMap(find("map"), view, state.now);
    mark();
  };
  const mark = (/** @type {Target | null} */ hovered = null) => {
    if (view) drawMarks(prepare(marks, view), view, state.now, hovered);
  };
  const recolour = () => {
    colours = themeColours();
    hues = seenHues(content.hues, colours);
    palette = createPalette(hues, colours);
    draw();
  };
  const zoom = (/** @type {number} */ factor, centre = 0.5) => {
    state.set({ zoom: zoomBy(state.now.zoom, factor, centre, stepOf(state.now.step)) });
  };
  const pan = (/** @type {number} */ share) => state.set({ zoom: panBy(state.now.zoom, share) });
  // Chromium leaves canvases blank on paper: a picture of it goes there, with finer pixels.
  // The points of documents stay on the screen: the words are printed in their place.
  const print = () => {
    const [words, points] = [find("map-panel"), find("document-map")];
    if (!points.hidden) {
      [words.hidden, points.hidden] = [false, true];
      const back = () => ([words.hidden, points.hidden] = [true, false]);
      addEventListener("afterprint", back, { once: true });
    }
    draw(2);
    find("printed").src = find("map").toDataURL();
  };

  // The same drawing, for a file.
  const figure = () => {
    if (!view) return null;
    const { context, drawing } = createSvgContext(view.width, view.height, colours.ground);
    paintMap(context, view, state.now);
    return drawing;
  };

  listenToPointer({ marks, state, tooltip, zoom, mark, view: () => view });
  find("zoom").append(...zoomButtons(content, zoom, state));
  state.follow(["step", "tab", "zoom", "cluster", "cut", "edited"], () => draw());
  state.follow(["word"], () => mark());
  state.follow(["cut"], () => {
    find("map-note").hidden = !state.now.cut;
    find("map-note").textContent =
      `Weights are known for the ${content.model.n_clusters} groups of the model, shown here.`;
  });
  state.follow(["step", "tab"], () => describe(marks, app));
  new ResizeObserver(() => draw()).observe(frame);
  return { recolour, zoom, pan, print, figure };
}

// Where everything goes.
/** @param {HTMLElement} frame @param {Step} step @param {Zoom} zoom */
function measure(frame, step, zoom) {
  const width = frame.clientWidth;
  const height = frame.clientHeight;
  const gutter = width < 600 ? 84 : 184;
  const columns = createColumns(step, zoom, gutter, width - gutter - 1);
  const below = columns.unit >= WIDE ? BELOW : 0;
  const rows = createRows(step, HEAD, height - HEAD - below - 1);
  return { columns, rows, width, height, gutter };
}

/** @param {HTMLCanvasElement} canvas @param {View} view @param {Now} now */
function drawMap(canvas, view, now) {
  paintMap(prepare(canvas, view), view, now);
}

/** @param {Context} context @param {View} view @param {Now} now */
function paintMap(context, view, now) {
  (now.tab === "data" ? paintDocuments : paintPrototypes)(context, view);
  drawLabels(context, view);
  if (view.columns.unit >= WIDE) drawWordsBelow(context, view);
  else if (now.tab !== "data") drawHeavyWords(context, view);
  drawRowNames(context, view, now.cluster);
}

/** @param {HTMLCanvasElement} canvas @param {View} view */
function prepare(canvas, { width, height, scale }) {
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = contextOf(canvas);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/**
 * @param {Content} content @param {(factor: number) => void} zoom @param {State} state
 */
function zoomButtons(content, zoom, state) {
  /** @type {(text: string, title: string, click: () => void) => HTMLElement} */
  const button = (text, title, click) =>
    make("button", { type: "button", text, title, "aria-label": title, on: { click } });
  const negative = content.kind === "coordinates" && content.values.some((level) => level < 0);
  const note = make("span", { class: "soft", text: "stripes: negative weights" });
  const documents = content.rows && content.labels ? [mapChoice(state)] : [];
  return [
    ...(negative ? [note] : []),
    ...documents,
    button("−", "Zoom out (−)", () => zoom(1 / 1.6)),
    button("+", "Zoom in (+)", () => zoom(1.6)),
    button("all", `Show all ${nounOf(content)}s (0)`, () => state.set({ zoom: [0, 1] })),
  ];
}

// The rows of the map: groups, or their documents.
/** @param {State} state */
function mapChoice(state) {
  const rows = segmented(
    "Rows of the map",
    /** @type {["prototypes" | "data", string, string][]} */ ([
      ["prototypes", "groups", "Each row is a group"],
      ["data", "documents", "Each row is a document"],
    ]),
    (tab) => state.set({ tab }),
  );
  state.follow(["tab"], () => rows.choose(state.now.tab === "data" ? "data" : "prototypes"));
  return rows.group;
}

/** @param {HTMLElement} marks @param {App} app */
function describe(marks, { content, state, stepOf }) {
  const step = stepOf(state.now.step);
  const noun = nounOf(content);
  const rows = state.now.tab === "data" ? "Documents by group" : "Groups";
  const active = content.model.n_words - step.entry.n_words_by_clusters[0];
  marks.setAttribute(
    "aria-label",
    `${rows} against ${noun}s. ${counted(step.K, "group")}, ` +
      `${counted(active, noun)} in at least one of them. ` +
      `The same ${noun}s are listed on the cards of the groups.`,
  );
}
