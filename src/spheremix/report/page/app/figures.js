// Figures to take away: what the tab shows, an overview of the groups, and two groups compared; with a title,
// a legend where colours need one, and never dimmed.

import { chosenId } from "../groups/grouping.js";
import { readable, seenColour, themeColours } from "../lib/colours.js";
import { makeSvg, present } from "../lib/dom.js";
import { axisTicks, emptyDrawing, stepsPath } from "../lib/drawing.js";
import { counted, countedRows, integer } from "../lib/format.js";
import { cells, MEASURES } from "../tabs/labels.js";
import { peakText, timeSeries, timeText } from "../tabs/time.js";
import { comparedWords } from "../words/bars.js";

/** @import { App } from "../types.d.ts" */

/** @typedef {{ colour: string, text: string }} Key */
/** @typedef {{ name: string, text: string, draw: () => SVGSVGElement | null }} Figure */
/**
 * @typedef {{ words: () => SVGSVGElement | null, onPaper: <T>(draw: () => T) => T,
 *   documents: { figure: () => SVGSVGElement, legend: () => Key[], about: () => string } | null }} Maps
 */

const NAME = 244; // pixels for the names of groups

/** Return the figures that can be drawn now. @param {App} app @param {Maps} maps @returns {Figure[]} */
export function figuresOf(app, maps) {
  const { tab, compared } = app.state.now;
  const { documents } = maps;
  const other = app.groups().byId.get(compared);
  return present([
    tab === "map" &&
      documents && {
        name: "document-map",
        text: "Map of the documents",
        draw: () => captioned(app, documents.figure(), documents.legend(), documents.about()),
      },
    (tab === "prototypes" || tab === "data") && {
      name: "words",
      text: "Map of words",
      draw: () => captioned(app, maps.words()),
    },
    tab === "labels" &&
      columnOf(app) && {
        name: "labels",
        text: "Labels of the groups",
        draw: () => captioned(app, labelFigure(app), [], labelText(app)),
      },
    tab === "time" && {
      name: "time",
      text: "Groups over time",
      draw: () => captioned(app, timeFigure(app), [], timeText(app)),
    },
    {
      name: "overview",
      text: "Overview: names, sizes, words",
      draw: () => captioned(app, overviewFigure(app)),
    },
    other &&
      other.id !== chosenId(app.state.now) && {
        name: "comparison",
        text: `Compared with ${other.name()}`,
        draw: () => captioned(app, comparisonFigure(app)),
      },
  ]);
}

const HEAD = 52; // pixels for the title
const KEYS = 22; // of a line of the legend

/**
 * Return a drawing with the title of the report above it, and what its colours mean below.
 * @param {App} app @param {SVGSVGElement | null} drawing @param {Key[]} legend
 * @param {string} what is drawn
 */
function captioned({ content, groups }, drawing, legend = [], what = "") {
  if (!drawing) return null;
  const { ink, soft, ground } = themeColours();
  const width = Math.max(Number(drawing.getAttribute("width")), 480);
  const high = Number(drawing.getAttribute("height"));
  const columns = Math.max(1, Math.floor(width / 200));
  const lines = Math.ceil(legend.length / columns);
  const whole = emptyDrawing(width, HEAD + high + (lines ? 12 + KEYS * lines : 0), ground);
  const many = `${countedRows(content.corpus.n_kept)} in ${counted(groups().groups.length, "group")}`;
  drawing.setAttribute("y", String(HEAD));
  whole.append(
    written(content.title, 16, 24, ink, { "font-size": 16, "font-weight": 600 }),
    written(what ? `${many} · ${what}` : many, 16, 43, soft),
    drawing,
  );
  legend.forEach(({ colour, text }, i) => {
    const x = 16 + (i % columns) * 200;
    const y = HEAD + high + 8 + KEYS * Math.floor(i / columns);
    whole.append(
      makeSvg("rect", { x, y, width: 11, height: 11, rx: 2, fill: colour }),
      written(text, x + 17, y + 10, ink),
    );
  });
  return whole;
}

const DPI = 300;
const INCH = 96; // pixels of a page
const LARGEST = 16_000; // pixels of a side that every browser draws

/** @param {string} text @param {SVGSVGElement} drawing @returns {Promise<Blob>} */
export async function toPng(text, drawing) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  const [width, height] = ["width", "height"].map((side) => Number(drawing.getAttribute(side)));
  const finer = Math.min(DPI / INCH, LARGEST / Math.max(width, height));
  canvas.width = Math.round(finer * width);
  canvas.height = Math.round(finer * height);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  /** @type {Blob} */
  const picture = await new Promise((done, fail) => {
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no picture"))), "image/png");
  });
  return new Blob([withResolution(new Uint8Array(await picture.arrayBuffer()))], {
    type: "image/png",
  });
}

const HEADER = 33; // bytes of a PNG before which nothing else may stand

/**
 * Return a PNG that says how many of its pixels make an inch: a chunk after its header.
 * @param {Uint8Array} png @returns {Uint8Array<ArrayBuffer>}
 */
export function withResolution(png, dpi = DPI) {
  const chunk = new DataView(new ArrayBuffer(21));
  const metre = Math.round(dpi / 0.0254);
  chunk.setUint32(0, 9);
  [...new TextEncoder().encode("pHYs")].forEach((byte, i) => chunk.setUint8(4 + i, byte));
  chunk.setUint32(8, metre);
  chunk.setUint32(12, metre);
  chunk.setUint8(16, 1); // of a metre
  const bytes = new Uint8Array(chunk.buffer);
  chunk.setUint32(17, crc32(bytes.subarray(4, 17)));
  const whole = new Uint8Array(png.length + bytes.length);
  whole.set(png.subarray(0, HEADER));
  whole.set(bytes, HEADER);
  whole.set(png.subarray(HEADER), HEADER + bytes.length);
  return whole;
}

/** @param {Uint8Array} bytes */
function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

/** @param {string} text @param {number} x @param {number} y @param {string} fill @param {object} more */
function written(text, x, y, fill, more = {}) {
  return makeSvg("text", { x, y, fill, "font-size": 12, text, ...more });
}

/** @param {App} app */
function timeFigure(app) {
  const { documents } = app.content;
  if (!documents?.date) return null;
  const { ink, soft, ground } = themeColours();
  const { periods, rows } = timeSeries(app, documents);
  const [wide, high, step] = [700, 36, 46];
  const drawing = emptyDrawing(NAME + wide + 160, rows.length * step + 34, ground);
  rows.forEach((row, i) => {
    const y = 10 + i * step;
    drawing.append(
      written(short(row.name, 34), NAME - 10, y + high - 4, ink, { "text-anchor": "end" }),
      makeSvg("path", {
        d: stepsPath(row.values, wide, high, row.top),
        fill: seenColour(row.colour),
        transform: `translate(${NAME} ${y})`,
      }),
      written(peakText(row, periods, app.state.now.amount), NAME + wide + 8, y + high - 4, soft),
    );
  });
  for (const { at, text } of axisTicks(periods, 16)) {
    const x = NAME + (wide * at) / periods.length;
    drawing.append(written(text, x, rows.length * step + 24, soft));
  }
  return drawing;
}

/** @param {App} app */
function columnOf({ content, state }) {
  return content.documents?.label_columns?.[state.now.column];
}

/** @param {App} app */
function labelText(app) {
  const measure = MEASURES.find(([value]) => value === app.state.now.measure)?.[1];
  return `${columnOf(app)?.name}: ${measure}`;
}

const LABEL = 20; // characters of the name of a label

/** @param {App} app */
function labelFigure(app) {
  const { documents } = app.content;
  const column = columnOf(app);
  if (!documents || !column) return null;
  const { ink, bar, ground } = themeColours();
  const found = cells(app, documents, column);
  const [wide, high, top] = [62, 24, 110];
  const width = NAME + found.labels.length * wide + 70;
  const drawing = emptyDrawing(width, top + found.rows.length * high + 10, ground);
  found.labels.forEach((label, c) => {
    const x = NAME + (c + 0.5) * wide;
    const name = `${short(documents.label_names?.[label] || "(empty)", LABEL)}${label === found.by ? " ↓" : ""}`;
    drawing.append(written(name, x, top - 8, ink, { transform: `rotate(-40 ${x} ${top - 8})` }));
  });
  found.rows.forEach(({ group, i }, r) => {
    const y = top + r * high;
    drawing.append(
      written(short(group.name(), 34), NAME - 10, y + 16, ink, { "text-anchor": "end" }),
    );
    found.labels.forEach((label, c) => {
      const x = NAME + c * wide;
      drawing.append(
        makeSvg("rect", {
          ...{ x, y, width: wide - 2, height: high - 2, fill: bar },
          "fill-opacity": (0.75 * found.heat(i, label)).toFixed(3),
        }),
        written(found.told(i, label), x + wide - 8, y + 16, ink, { "text-anchor": "end" }),
      );
    });
  });
  return drawing;
}

const WORDS = 10; // of a group in the overview

/** @param {App} app */
function overviewFigure({ groups }) {
  const { ink, soft, ground } = themeColours();
  const rows = groups().groups.toSorted((a, b) => b.size - a.size);
  const [name, wide, step] = [250, 130, 26];
  const drawing = emptyDrawing(900, rows.length * step + 16, ground);
  const largest = Math.max(...rows.map(({ size }) => size), 1);
  rows.forEach((group, i) => {
    const y = 8 + i * step;
    const colour = seenColour(group.colour);
    const named = new Set(group.name().toLowerCase().split(" "));
    const words = group.words.filter((word) => !named.has(word)).slice(0, WORDS);
    const width = (wide * group.size) / largest;
    drawing.append(
      written(short(group.name(), 34), name - 12, y + 15, readable(colour, ground), {
        ...{ "text-anchor": "end", "font-weight": 600 },
      }),
      makeSvg("rect", { x: name, y: y + 5, width, height: 12, rx: 2, fill: colour }),
      written(integer(group.size), name + width + 6, y + 15, soft),
      written(short(words.join(", "), 74), name + wide + 60, y + 15, ink),
    );
  });
  return drawing;
}

/** @param {string} text @param {number} most */
function short(text, most) {
  return text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text;
}

// What sets the chosen group apart from the one it is compared with, as on its card.
/** @param {App} app */
function comparisonFigure(app) {
  const { ink, ground } = themeColours();
  const { byId } = app.groups();
  const [own, other] = [byId.get(chosenId(app.state.now)), byId.get(app.state.now.compared)];
  if (!own || !other) return null;
  const { rows, listed } = comparedWords(app, own, other);
  const sizes = rows.map(({ here, there }) => [here, there].map(Math.abs));
  const most = Math.max(...sizes.flat(), 1e-9);
  const [middle, room, wide, line] = [360, 80, 240, 21];
  const drawing = emptyDrawing(2 * middle, 44 + line * rows.length, ground);
  for (const [group, side, anchor] of /** @type {[typeof own, number, string][]} */ ([
    [other, -1, "end"],
    [own, 1, "start"],
  ])) {
    const colour = seenColour(group.colour);
    drawing.append(
      written(short(group.name(), 34), middle + side * room, 20, readable(colour, ground), {
        ...{ "text-anchor": anchor, "font-weight": 600 },
      }),
    );
    sizes.forEach(([here, there], i) => {
      const share = (side > 0 ? here : there) / most;
      const width = listed ? 12 * share : wide * share;
      const x = side > 0 ? middle + room : middle - room - width;
      drawing.append(makeSvg("rect", { x, y: 34 + i * line, width, height: 12, fill: colour }));
    });
  }
  rows.forEach(({ word }, i) =>
    drawing.append(
      written(short(word, 20), middle, 45 + i * line, ink, { "text-anchor": "middle" }),
    ),
  );
  return drawing;
}
