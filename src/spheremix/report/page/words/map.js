// The maps of words: a canvas with rows of groups and columns of words, zoom, choice and marks.

import { chooseGroup, chosenId } from "../groups/grouping.js";
import { createPalette, seenColour, themeColours } from "../lib/colours.js";
import {
  bdi,
  contextOf,
  find,
  make,
  segmented,
  separated,
  signButton,
  textButton,
} from "../lib/dom.js";
import { createSvgContext } from "../lib/drawing.js";
import { atThisBeta, counted, nounOf } from "../lib/format.js";
import { drawHeavyWords, drawLabels, drawRowNames, drawWordsBelow, HEAD } from "./labels.js";
import {
  createColumns,
  createRows,
  paintDocuments,
  paintPrototypes,
  panBy,
  zoomBy,
  zoomTo,
} from "./pixels.js";
import { shownWords } from "./shown.js";
import { createMapTooltip } from "./tooltip.js";
import { sharers } from "./words.js";

/** @import { App, Columns, Content, Context, Grouping, Now, State, Step, Target, Tooltip, View, Zoom } from "../types.d.ts" */

const BELOW = 84; // pixels for upright words, where columns are wide enough for them
const WIDE = 11;

/** @param {App} app */
export function mountMap(app) {
  const { content, state, stepOf } = app;
  const marks = find("marks");
  const frame = find("frame");
  const tooltip = createMapTooltip(frame);
  /** @type {View | null} */
  let view = null;
  let colours = themeColours();
  /** @type {Grouping | null} */
  let painted = null; // the groups that the palette is of
  let palette = new Uint32Array(0);

  const draw = (scale = devicePixelRatio || 1) => {
    if (!frame.clientWidth || !frame.clientHeight) return;
    const shown = shownWords(app);
    const { step, groupOf } = shown;
    if (painted !== app.groups()) {
      painted = app.groups();
      const rows = Array.from({ length: step.K }, (_, k) => seenColour(groupOf(k).colour));
      palette = createPalette(rows, colours);
    }
    view = { ...shown, palette, colours, scale, ...measure(frame, step, state.now.zoom) };
    paintMap(prepare(find("map"), view), view, state.now);
    mark();
  };
  const mark = (/** @type {Target | null} */ hovered = null) => {
    if (view) drawMarks(prepare(marks, view), view, state.now, hovered);
  };
  const recolour = () => {
    colours = themeColours();
    painted = null;
    draw();
  };
  const zoom = (/** @type {number} */ factor, centre = 0.5) => {
    state.set({ zoom: zoomBy(state.now.zoom, factor, centre, stepOf(state.now.step)) });
  };
  const pan = (/** @type {number} */ share) => state.set({ zoom: panBy(state.now.zoom, share) });
  const showAll = () => state.set({ zoom: [0, 1] });
  // Chromium leaves canvases blank on paper: a picture of it goes there, with finer pixels.
  const print = () => {
    if (find("map-panel").hidden) return;
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

  listenToPointer({ marks, state, groups: app.groups, tooltip, zoom, mark, view: () => view });
  find("zoom").append(...zoomButtons(content, zoom, showAll, state));
  state.follow(["step", "tab", "zoom", "group", "node", "cut", "edited"], () => {
    if (!find("map-panel").hidden) draw();
  });
  state.follow(["word"], () => mark());
  find("map-note").textContent =
    `Weights are known for the ${content.model.n_groups} groups of the model, shown here.`;
  state.follow(["step", "tab", "cut", "edited"], () => {
    if (find("map-panel").hidden) return;
    find("map-note").hidden = shownWords(app).known;
    describe(marks, app);
  });
  new ResizeObserver(() => draw()).observe(frame);
  return { recolour, zoom, pan, showAll, print, figure };
}

// Return where everything goes.
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

/** @param {Context} context @param {View} view @param {Now} now */
function paintMap(context, view, now) {
  (now.tab === "data" ? paintDocuments : paintPrototypes)(context, view);
  drawLabels(context, view);
  if (view.columns.unit >= WIDE) drawWordsBelow(context, view);
  else if (now.tab !== "data") drawHeavyWords(context, view);
  drawRowNames(context, view, chosenId(now));
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
 * @param {Content} content @param {(factor: number) => void} zoom @param {() => void} showAll
 * @param {State} state
 */
function zoomButtons(content, zoom, showAll, state) {
  const negative = content.kind === "coordinates" && content.values.some((level) => level < 0);
  const note = make("span", { class: "soft", text: "stripes: negative weights" });
  const documents = content.rows && content.labels ? [mapChoice(state)] : [];
  return [
    ...(negative ? [note] : []),
    ...documents,
    signButton("−", "Zoom out (−)", () => zoom(1 / 1.6)),
    signButton("+", "Zoom in (+)", () => zoom(1.6)),
    signButton("all", `Show all ${nounOf(content)}s (0)`, showAll),
  ];
}

/** Return the rows of the map: groups, or their documents. @param {State} state */
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
function describe(marks, app) {
  const { content, step } = shownWords(app);
  const noun = nounOf(content);
  const rows = app.state.now.tab === "data" ? "Documents by group" : "Groups";
  const active = content.model.n_words - step.entry.n_words_by_groups[0];
  marks.setAttribute(
    "aria-label",
    `${rows} against ${noun}s. ${counted(step.K, "group")}, ` +
      `${counted(active, noun)} in at least one of them. ` +
      `The same ${noun}s are listed on the cards of the groups.`,
  );
}

// What a pointer does on the maps: hover, drag, wheel, and choosing what is clicked on.

// Return what is under a point of the canvas: a row, a word, or a label above.
/** @param {View} view @param {number} x @param {number} y @returns {Target} */
function at(view, x, y) {
  const { columns, rows, step, gutter } = view;
  const row = rows.find((one) => y >= one.y && y < one.y + one.height) || null;
  if (x < gutter) return { row, place: -1, head: false };
  const place = Math.max(0, Math.min(step.W - 1, Math.floor(columns.place(x))));
  return { row, place, head: y < HEAD };
}

/**
 * @param {{ marks: HTMLElement, state: State, groups: App["groups"], tooltip: Tooltip,
 *   zoom: (factor: number, centre?: number) => void, mark: (hovered?: Target) => void,
 *   view: () => View | null }} parts
 */
export function listenToPointer({ marks, state, groups, tooltip, zoom, mark, view }) {
  /** @type {{ x: number, zoom: Zoom, moved: boolean } | null} */
  let drag = null;
  const centre = (/** @type {MouseEvent} */ event, /** @type {View} */ { columns }) => {
    return Math.min(
      1,
      Math.max(0, (event.offsetX - columns.left) / (columns.right - columns.left)),
    );
  };
  marks.addEventListener("pointermove", (event) => {
    const now = view();
    if (!now) return;
    if (drag) {
      const { columns } = now;
      const moved = (drag.x - event.offsetX) / (columns.right - columns.left);
      if (Math.abs(event.offsetX - drag.x) > 4) drag.moved = true;
      if (drag.moved) state.set({ zoom: panBy(drag.zoom, moved) });
      return;
    }
    const target = at(now, event.offsetX, event.offsetY);
    mark(target);
    tooltip.show(now, target, event.offsetX, event.offsetY);
  });
  marks.addEventListener("pointerleave", () => {
    mark();
    tooltip.hide();
  });
  marks.addEventListener("pointerdown", (event) => {
    marks.setPointerCapture(event.pointerId);
    drag = { x: event.offsetX, zoom: state.now.zoom, moved: false };
    tooltip.hide();
  });
  marks.addEventListener("pointerup", (event) => {
    const moved = drag?.moved;
    drag = null;
    const now = view();
    if (!moved && now) choose(now, at(now, event.offsetX, event.offsetY), state, groups());
  });
  marks.addEventListener("pointercancel", () => {
    drag = null;
  });
  // A plain wheel scrolls the page, unless the map was clicked on.
  marks.addEventListener(
    "wheel",
    (event) => {
      const now = view();
      if (!now || !(event.ctrlKey || event.metaKey || document.activeElement === marks)) return;
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
        state.set({ zoom: panBy(state.now.zoom, event.deltaX / 600) });
      else zoom(Math.exp(-event.deltaY / 300), centre(event, now));
    },
    { passive: false },
  );
}

/** @param {View} view @param {Target} target @param {State} state @param {Grouping} groups */
function choose(view, { row, place, head }, state, groups) {
  const { step, columns, groupOf } = view;
  if (head) {
    const group = step.blocks.filter((block) => block.count === step.counts[step.order[place]]);
    const from = columns.share(group[0].start);
    const to = columns.share(group[group.length - 1].stop);
    state.set({ zoom: zoomTo(from, to, step) });
  } else {
    const word =
      place < 0 || (row && step.levels[row.k * step.W + step.order[place]] === 0)
        ? -1
        : step.order[place];
    if (row) chooseGroup(state, groups, groupOf(row.k).id, { word });
    else state.set({ word });
  }
}

// What is pointed at or searched for, on a canvas above the map.

/** @param {Context} context @param {View} view @param {Now} now @param {Target | null} hovered */
export function drawMarks(context, view, now, hovered) {
  const { step, columns, rows, width, colours } = view;
  const last = rows[rows.length - 1];
  const bottom = last.y + last.height;
  if (hovered?.row) {
    const { y, height } = hovered.row;
    context.strokeStyle = colours.soft;
    context.lineWidth = 1;
    context.strokeRect(0.5, Math.round(y) + 0.5, width - 1, Math.round(height) - 1);
  }
  if (hovered && hovered.place >= 0 && !hovered.head) {
    column(context, columns, hovered.place, rows[0].y, bottom, colours.soft, 1);
  }
  if (now.word >= 0) {
    const place = step.places[now.word];
    column(context, columns, place, rows[0].y, bottom, colours.ink, 2);
    label(context, view, place, now.word);
  }
}

/**
 * @param {Context} context @param {Columns} columns @param {number} place @param {number} top
 * @param {number} bottom @param {string} colour @param {number} thickness
 */
function column(context, columns, place, top, bottom, colour, thickness) {
  const left = columns.x(place);
  const right = Math.max(left + 3, columns.x(place + 1));
  if (right < columns.left || left > columns.right) return;
  context.strokeStyle = colour;
  context.lineWidth = thickness;
  context.strokeRect(left - thickness / 2, top, right - left + thickness, bottom - top);
}

// Draw the word that was searched for, beside its column.
/** @param {Context} context @param {View} view @param {number} place @param {number} word */
function label(context, { content, columns, rows, colours }, place, word) {
  const x = columns.x(place + 0.5);
  if (x < columns.left || x > columns.right) return;
  context.font = "600 12px system-ui, sans-serif";
  const wide = context.measureText(content.words[word]).width + 8;
  const left = x + wide + 6 > columns.right ? x - wide - 6 : x + 6;
  context.fillStyle = colours.ink;
  context.fillRect(left, rows[0].y + 2, wide, 17);
  context.fillStyle = colours.ground;
  context.textBaseline = "middle";
  context.fillText(content.words[word], left + 4, rows[0].y + 11);
}

// The word that is marked on the map: brought into sight, and told in a line above it.

/** @param {App} app @param {number} j */
export function showWord(app, j) {
  const { content, state } = app;
  const { step } = shownWords(app);
  const share = createColumns(step, [0, 1], 0, 1).share(step.places[j] + 0.5);
  const [from, to] = state.now.zoom;
  const half = (to - from) / 2;
  const seen = share > from && share < to;
  // Documents with the word light on their map; else it is shown on the map of words.
  const stays = ["prototypes", "data", ...(content.rows ? ["map"] : [])].includes(state.now.tab);
  state.set({
    word: j,
    list: "all",
    ...(!stays && { tab: "prototypes" }),
    ...(!seen && { zoom: zoomTo(share - half, share + half, step) }),
  });
  find("maps").scrollIntoView({ block: "nearest" });
}

/** @param {App} app */
export function mountWordLine(app) {
  const { state, groups } = app;
  const line = find("word-line");
  state.follow(["word", "step", "cut", "edited"], () => {
    const j = state.now.word;
    line.hidden = j < 0;
    if (j < 0) return;
    const { content, step, groupOf } = shownWords(app);
    const having = sharers(step, j);
    const show = (/** @type {number} */ k) => chooseGroup(state, groups(), groupOf(k).id);
    const names = having.slice(0, 4).map((k) => textButton(bdi(content.names[k]), () => show(k)));
    const told = having.length
      ? ` is in ${having.length} of ${counted(step.K, "group")}: `
      : ` is in no group${atThisBeta(content)}. `;
    const more = having.length - names.length;
    line.replaceChildren(
      bdi(content.words[j], { class: "strong" }),
      told,
      ...separated(names, ", "),
      more > 0 ? ` and ${more} more` : "",
    );
  });
}
