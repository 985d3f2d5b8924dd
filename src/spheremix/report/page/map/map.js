// The map of documents: each one a point, near those that are alike.

import { hex, readable } from "../lib/colours.js";
import { bdi, contextOf, make, rove, signButton } from "../lib/dom.js";
import { countedRows } from "../lib/format.js";
import { drawContours } from "./contours.js";
import { listenToGestures } from "./gestures.js";
import { drawPlacedLabels, labelAt, labelFont, placeLabels } from "./labels.js";
import { CLEAR, createPainter, drawingOrder, FAINT, fit, PALE, toSvg } from "./painter.js";
import {
  createIndex,
  createPoints,
  movedView,
  nearestPoint,
  pointRadius,
  resizedView,
  toScreen,
  viewOf,
  viewText,
  wholeView,
  zoomedView,
} from "./view.js";

/** @import { DocumentMap, DocumentMapParts, MapLabel, MapView, PlacedLabel, Shown } from "../types.d.ts" */

const REACH = 14; // pixels from a point at which the pointer finds it
// While the map is zoomed, only as many points are drawn as a frame has time for; once it rests, all are.
const FRAME = 14; // milliseconds
const FEWEST = 6; // one of so many
const REST = 120; // milliseconds without a movement
/** @type {ReadonlySet<number>} */
const NONE = new Set();

/** @param {DocumentMapParts} parts @returns {DocumentMap} */
export function createDocumentMap({ x, y, colours, labels, describe, beside, ...heard }) {
  const points = createPoints(x, y);
  const index = createIndex(points);
  const below = make("canvas", { "aria-hidden": "true" });
  const above = make("canvas", {
    tabindex: "0",
    role: "application",
    "aria-roledescription": "map",
    "aria-label":
      `Map of ${countedRows(points.n)}: those that are alike are near each other. ` +
      "The arrow keys move it, plus and minus zoom, 0 shows all of it, Enter opens the document " +
      "in the middle. The same documents are in the list of documents.",
  });
  const tip = make("div", { class: "document-map-tip", hidden: true });
  const said = make("p", { class: "document-map-said", "aria-live": "polite" });
  const printed = make("img", { class: "printed-map", alt: "", decoding: "sync" });
  const element = make("div", { class: "document-map" }, below, above, tip, said, printed);
  /** @type {MapView} */
  let view = wholeView(points, 1, 1);
  /** @type {MapLabel[]} */
  let named = labels;
  /** @type {Uint8Array | null} */
  let highlighted = null;
  /** @type {Uint8Array | null} */
  let chosen = null;
  /** @type {Shown} */
  const shown = {
    colours,
    ground: 0xffffff,
    order: drawingOrder(index.order, null),
    faint: FAINT,
    opacity: CLEAR,
    under: null,
  };
  /** @type {ReadonlySet<number> | null} */
  let groups = null; // that stand out
  /** @type {{ left: number, top: number, width: number, height: number }[]} */
  let controls = []; // which no name covers
  /** @type {PlacedLabel[]} */
  let written = [];
  let ink = "#000000";
  let hovered = -1;
  let selected = -1;
  let lassoing = false;
  /** @type {[number, number][] | null} */
  let line = null; // that a hand draws
  /** @type {[number, number][] | null} */
  let drawn = null; // that stays
  let asked = ""; // the view that an address asks for
  let waiting = 0;
  let every = 1; // one of so many points is drawn while the map moves
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let moving;
  const standing = () => (highlighted ? NONE : groups);
  const painter = createPainter(points, shown, (context, where, ratio) =>
    drawContours(context, named, where, ratio, standing(), ink),
  );

  const counts = (/** @type {number} */ i) => !highlighted || highlighted[i] > 0;
  const fonts = contextOf(make("canvas"));
  /** @type {Map<string, number>} */
  const widths = new Map();
  const measure = (/** @type {string} */ text, /** @type {number} */ size) => {
    const key = `${size} ${text}`;
    const known = widths.get(key);
    if (known !== undefined) return known;
    fonts.font = labelFont(size);
    const { width } = fonts.measureText(text);
    widths.set(key, width);
    return width;
  };

  const radius = () => pointRadius(view, points.n);
  const placed = () =>
    placeLabels(named, view, measure, controls).map(({ colour, ...label }) => ({
      ...label,
      colour: colour && readable(colour, hex(shown.ground)),
    }));
  // What stands on the map, or beside it in its parent: a box of its pixels each.
  const findControls = () => {
    const { left, top } = element.getBoundingClientRect();
    const around = [...(element.parentElement?.children ?? [])].filter((one) => one !== element);
    controls = [...around, bar].map((one) => {
      const box = one.getBoundingClientRect();
      return { left: box.left - left, top: box.top - top, width: box.width, height: box.height };
    });
  };
  const mark = () => {
    const ratio = devicePixelRatio || 1;
    fit(above, Math.round(view.width * ratio), Math.round(view.height * ratio));
    const context = contextOf(above);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    written = placed();
    drawPlacedLabels(context, written, ink, hex(shown.ground));
    if (selected >= 0) for (const i of beside(selected)) ring(context, i, false);
    for (const i of [hovered, selected]) if (i >= 0) ring(context, i, i === selected);
    const around = line ?? drawn;
    if (around?.length) {
      context.beginPath();
      for (const [right, up] of around) context.lineTo(...toScreen(view, right, up));
      context.closePath();
      context.fillStyle = ink;
      context.globalAlpha = 0.05;
      context.fill();
      context.globalAlpha = 1;
      context.strokeStyle = ink;
      context.lineWidth = 1.5;
      context.setLineDash(line ? [] : [5, 4]);
      context.stroke();
      context.setLineDash([]);
    }
  };
  /** @param {CanvasRenderingContext2D} context @param {number} i @param {boolean} bold */
  const ring = (context, i, bold) => {
    const [left, top] = toScreen(view, points.x[i], points.y[i]);
    for (const [colour, wide] of /** @type {[string, number][]} */ ([
      [hex(shown.ground), 5],
      [ink, bold ? 2.5 : 1.5],
    ])) {
      context.beginPath();
      context.arc(left, top, radius() + 3, 0, 2 * Math.PI);
      context.strokeStyle = colour;
      context.lineWidth = wide;
      context.stroke();
    }
  };
  const drawSoon = () => {
    if (waiting) return;
    waiting = requestAnimationFrame(() => {
      waiting = 0;
      if (view.width < 2 || view.height < 2) return;
      const ratio = devicePixelRatio || 1;
      const some = moving === undefined ? 1 : every;
      if (moving === undefined) findControls();
      if (moving === undefined || !painter.move(below, view, ratio)) {
        const begin = performance.now();
        painter.paint(below, { view, radius: radius(), ratio, every: some });
        const all = (performance.now() - begin) * some;
        every = Math.min(FEWEST, Math.max(1, Math.ceil(all / FRAME)));
      }
      mark();
    });
  };
  const draw = () => {
    painter.forget();
    drawSoon();
  };
  const show = (/** @type {MapView} */ next) => {
    view = next;
    clearTimeout(moving);
    moving = setTimeout(() => {
      moving = undefined;
      if (!painter.isWhole()) draw();
      if (view.width > 1) heard.onView(viewText(view, wholeView(points, view.width, view.height)));
    }, REST);
    drawSoon();
  };
  const reset = () => {
    painter.forget();
    show(wholeView(points, view.width, view.height));
    heard.onReset();
  };
  const refresh = () => {
    const style = getComputedStyle(element);
    const ground = style.getPropertyValue("--map").trim() || "#ffffff";
    shown.ground = parseInt(ground.slice(1, 7), 16);
    ink = style.getPropertyValue("--ink").trim() || "#000000";
    draw();
  };
  const resize = () => {
    const { clientWidth: width, clientHeight: height } = element;
    if (!width || !height) return;
    const whole = wholeView(points, width, height);
    view = view.width < 2 ? viewOf(asked, whole) : resizedView(view, whole);
    refresh();
  };
  const hover = (
    /** @type {number} */ id,
    /** @type {number} */ left,
    /** @type {number} */ top,
  ) => {
    tip.hidden = id < 0;
    if (id >= 0) {
      const { title, line: more, note } = describe(id);
      tip.replaceChildren(
        bdi(title, { class: "strong" }),
        ...(more ? [bdi(more)] : []),
        bdi(note, { class: "soft" }),
      );
      const right = left > view.width / 2;
      tip.style.left = right ? "auto" : `${left + 14}px`;
      tip.style.right = right ? `${view.width - left + 14}px` : "auto";
      tip.style.top = `${Math.min(top + 12, Math.max(0, view.height - tip.offsetHeight - 4))}px`;
    }
    above.style.cursor = lassoing ? "crosshair" : id >= 0 ? "pointer" : "grab";
    if (id === hovered) return;
    hovered = id;
    mark();
  };
  const select = (/** @type {number} */ id) => {
    selected = id;
    const told = id >= 0 ? describe(id) : null;
    said.textContent = told && `${told.title}: ${told.note}`;
    mark();
  };
  const choose = (/** @type {number} */ id) => {
    select(id);
    heard.onSelect(id);
  };
  const setLasso = (/** @type {boolean} */ on) => {
    lassoing = on;
    buttons.lasso.setAttribute("aria-pressed", String(on));
    above.style.cursor = on ? "crosshair" : "grab";
  };
  // The view as a drawing, in which no group is dimmed.
  const figure = () => {
    const order = drawingOrder(index.order, highlighted);
    const plain = { ...shown, order, faint: FAINT };
    return toSvg(points, plain, view, radius(), named, null, placed(), ink);
  };
  // The view as it is, for paper: canvases are left blank there.
  const print = () => {
    if (view.width < 2) return;
    refresh();
    const ratio = 2;
    painter.paint(below, { view, radius: radius(), ratio, every: 1 });
    const canvas = make("canvas");
    fit(canvas, below.width, below.height);
    const context = contextOf(canvas);
    context.drawImage(below, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawPlacedLabels(context, placed(), ink, hex(shown.ground));
    printed.src = canvas.toDataURL();
    painter.forget();
  };

  const zoom = (/** @type {number} */ factor) => show(zoomedView(view, factor));
  const pan = (/** @type {number} */ share) => show(movedView(view, -share * view.width, 0));
  const buttons = {
    nearer: signButton("+", "Zoom in (+)", () => zoom(1.6)),
    farther: signButton("−", "Zoom out (−)", () => zoom(1 / 1.6)),
    all: signButton("all", "Show all documents (0)", reset),
    lasso: signButton("lasso", "Draw around documents to choose them (or drag with Shift)", () =>
      setLasso(!lassoing),
    ),
  };
  buttons.lasso.setAttribute("aria-pressed", "false");
  const bar = rove(
    make(
      "div",
      { class: "document-map-buttons", role: "group", "aria-label": "Map" },
      ...Object.values(buttons),
    ),
    "button",
  );
  element.append(bar);

  listenToGestures(above, {
    view: () => view,
    show,
    reset,
    hover,
    select: choose,
    name: (left, top) => labelAt(written, left, top)?.group ?? null,
    choose: heard.onName,
    isLasso: () => lassoing,
    near: (left, top, reach = REACH) =>
      nearestPoint(index, points, view, [left, top], Math.min(reach, 1e5), counts),
    drawLasso: (next) => {
      line = next;
      mark();
    },
    lasso: (around) => {
      heard.onLasso(around);
      setLasso(false);
    },
  });
  new ResizeObserver(resize).observe(element);
  const reorder = () => {
    shown.order = drawingOrder(index.order, highlighted ?? chosen);
    shown.faint = highlighted ? FAINT : PALE;
    draw();
  };
  return {
    element,
    setColours: (next) => {
      shown.colours = next;
      draw();
    },
    setHighlighted: (mask) => {
      highlighted = mask;
      reorder();
    },
    setChosen: (mask, ids = []) => {
      chosen = mask;
      groups = mask && new Set(ids);
      reorder();
    },
    setLasso: (next) => {
      drawn = next;
      drawSoon();
    },
    setView: (text) => {
      asked = text;
      if (view.width < 2) return;
      const whole = wholeView(points, view.width, view.height);
      if (viewText(view, whole) === text) return;
      painter.forget();
      show(viewOf(text, whole));
    },
    setLabels: (next) => {
      named = next;
      draw();
    },
    select,
    zoom,
    pan,
    showAll: reset,
    resize,
    refresh,
    figure,
    print,
  };
}
