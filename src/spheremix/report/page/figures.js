// Figures to take away: what the tab shows, as SVG or PNG, in the colours of the theme.

import { makeSvg } from "./dom.js";
import { integer, percent } from "./format.js";
import { themeColours } from "./colours.js";
import { seenColour } from "./group_colours.js";
import { saveBlob, saveText } from "./csv.js";
import { cells } from "./label_tab.js";
import { emptyDrawing } from "./svg_context.js";
import { axisTicks, stepsPath } from "./time_drawing.js";
import { timeSeries } from "./time_tab.js";

/** @import { App, Now, Tab } from "./types.d.ts" */

const NAME = 190; // pixels for the names of groups
const SCALE = 2; // pixels of a PNG for each of the SVG

/** @type {Partial<Record<Tab, string>>} */
const NAMES = {
  map: "document-map",
  prototypes: "words",
  data: "words",
  labels: "labels",
  time: "time",
};

/** @typedef {{ saveSvg: () => void, savePng: () => void }} DocumentFigures */

// What the figure of a tab is called; null where the tab has none.
/** @param {Pick<Now, "tab">} now */
export function figureName({ tab }) {
  return NAMES[tab] ?? null;
}

/**
 * @param {App} app @param {"svg" | "png"} format
 * @param {{ words: () => SVGSVGElement | null, documents: DocumentFigures | null }} maps
 */
export async function saveFigure(app, format, maps) {
  const name = figureName(app.state.now);
  if (name === "document-map") {
    if (format === "svg") maps.documents?.saveSvg();
    else maps.documents?.savePng();
    return;
  }
  const drawing =
    name === "time" ? timeFigure(app) : name === "labels" ? labelFigure(app) : maps.words();
  if (!drawing || !name) return;
  drawing.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const text = new XMLSerializer().serializeToString(drawing);
  if (format === "svg") saveText(`${name}.svg`, text, "image/svg+xml");
  else saveBlob(`${name}.png`, await toPng(text, drawing));
}

/** @param {string} text @param {SVGSVGElement} drawing @returns {Promise<Blob>} */
async function toPng(text, drawing) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = SCALE * Number(drawing.getAttribute("width"));
  canvas.height = SCALE * Number(drawing.getAttribute("height"));
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => {
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no picture"))), "image/png");
  });
}

/** @param {string} text @param {number} x @param {number} y @param {string} fill @param {object} more */
function written(text, x, y, fill, more = {}) {
  return makeSvg("text", { x, y, fill, "font-size": 12, text, ...more });
}

/** @param {App} app */
function timeFigure(app) {
  const dates = app.content.documents?.date;
  if (!dates) return null;
  const { ink, soft, ground } = themeColours();
  const { periods, rows } = timeSeries(app, dates, { measure: "count", reach: 0 });
  const [wide, high, step] = [700, 36, 46];
  const drawing = emptyDrawing(NAME + wide + 130, rows.length * step + 34, ground);
  rows.forEach((row, i) => {
    const y = 10 + i * step;
    drawing.append(
      written(row.name, NAME - 10, y + high - 4, ink, { "text-anchor": "end" }),
      makeSvg("path", {
        d: stepsPath(row.values, wide, high, row.top),
        fill: seenColour(row.colour),
        transform: `translate(${NAME} ${y})`,
      }),
      written(`${integer(row.top)} in ${row.peak}`, NAME + wide + 8, y + high - 4, soft),
    );
  });
  for (const { at, text } of axisTicks(periods, 16)) {
    const x = NAME + (wide * at) / periods.length;
    drawing.append(written(text, x, rows.length * step + 24, soft));
  }
  return drawing;
}

/** @param {App} app */
function labelFigure(app) {
  const { documents } = app.content;
  const column = documents?.label_columns?.[0];
  if (!documents || !column) return null;
  const { ink, bar, ground } = themeColours();
  const found = cells(app, documents, column, {
    ...{ column: 0, sort: -1, all: false },
    measure: "group",
  });
  const [wide, high, top] = [74, 24, 110];
  const width = NAME + found.labels.length * wide + 60;
  const drawing = emptyDrawing(width, top + found.rows.length * high + 10, ground);
  found.labels.forEach((label, c) => {
    const x = NAME + (c + 0.5) * wide;
    const name = documents.label_names?.[label] ?? "";
    drawing.append(written(name, x, top - 8, ink, { transform: `rotate(-40 ${x} ${top - 8})` }));
  });
  found.rows.forEach(({ group, i }, r) => {
    const y = top + r * high;
    drawing.append(written(group.name(), NAME - 10, y + 16, ink, { "text-anchor": "end" }));
    found.labels.forEach((label, c) => {
      const x = NAME + c * wide;
      const value = found.share(i, label);
      drawing.append(
        makeSvg("rect", {
          ...{ x, y, width: wide - 2, height: high - 2, fill: bar },
          "fill-opacity": (0.75 * value).toFixed(3),
        }),
        written(percent(value), x + wide - 8, y + 16, ink, { "text-anchor": "end" }),
      );
    });
  });
  return drawing;
}
