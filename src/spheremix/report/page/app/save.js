// What can be taken away: tables, figures, the page on paper.

import { seenColour, themeColours } from "../lib/colours.js";
import { find, make, makeSvg, present } from "../lib/dom.js";
import { axisTicks, emptyDrawing, stepsPath } from "../lib/drawing.js";
import { saveBlob, saveText, toCsv } from "../lib/files.js";
import { atThisBeta, capital, integer, nounOf, percent, shownOfAll } from "../lib/format.js";
import { cells } from "../tabs/labels.js";
import { timeSeries } from "../tabs/time.js";
import {
  candidateTable,
  groupTable,
  contributionsTable,
  documentTable,
  pathTable,
  wordTable,
} from "./tables.js";

/** @import { App, Content, Tab, Table } from "../types.d.ts" */

const LISTED = "documents.csv";

/**
 * @param {App} app @param {() => number[]} listed
 * @param {Parameters<typeof saveFigure>[2]} maps
 */
export function mountSave(app, listed, maps) {
  const { content, state } = app;
  const { documents, rows: words } = content;
  const menu = find("save-menu");
  const button = find("save");
  /** @type {([file: string, text: string, table: () => Table] | null)[]} */
  const offered = [
    ["groups.csv", `Groups${atThisBeta(content)}`, () => groupTable(app)],
    ["words.csv", wordTableTitle(content), () => wordTable(app)],
    documents && [
      "all-documents.csv",
      "All documents",
      () => documentTable(app, documents, [...documents.id.keys()]),
    ],
    documents && [LISTED, "Documents listed", () => documentTable(app, documents, listed())],
    documents &&
      words && [
        "document-words.csv",
        "Words of the document read",
        () => contributionsTable(app, documents, words),
      ],
    content.steps.length > 1 ? ["path.csv", keptSteps(content), () => pathTable(app)] : null,
    ["candidates.csv", "Numbers of groups tried", () => candidateTable(app)],
  ];
  const close = () => {
    menu.hidden = true;
    button.setAttribute("aria-expanded", "false");
  };
  /** @type {(text: string, name: string | null, action: () => void) => HTMLElement} */
  const item = (text, name, action) =>
    make("button", {
      type: "button",
      role: "menuitem",
      "data-file": name,
      text,
      on: {
        click: () => {
          close();
          action();
        },
      },
    });
  const items = present(offered).map(([name, text, table]) =>
    item(`${text} (CSV)`, name, () => {
      const { columns, rows } = table();
      saveText(name, toCsv(columns, rows), "text/csv");
    }),
  );
  const figures = /** @type {("svg" | "png")[]} */ (["svg", "png"]).map((format) =>
    item("", null, () => void saveFigure(app, format, maps)),
  );
  menu.replaceChildren(
    ...figures,
    ...items,
    item("Print, or save as PDF", null, () => print()),
  );
  const fileOf = (/** @type {string} */ name) => items.find((one) => one.dataset.file === name);
  button.addEventListener("click", () => {
    const list = fileOf(LISTED);
    if (list) list.textContent = `Documents listed: ${integer(listed().length)} (CSV)`;
    menu.hidden = !menu.hidden;
    button.setAttribute("aria-expanded", String(!menu.hidden));
    if (!menu.hidden) (figures.find((one) => !one.hidden) ?? items[0]).focus();
  });
  menu.addEventListener("keydown", (event) => moveInMenu(event, menu, button, close));
  document.addEventListener("click", (event) => {
    if (event.target instanceof Node && !menu.contains(event.target) && event.target !== button)
      close();
  });
  state.follow(["tab"], () => {
    const name = NAMES[state.now.tab];
    figures.forEach((one, i) => {
      const format = i ? "png" : "svg";
      one.hidden = !name;
      one.textContent = `Figure: ${name?.replace("-", " ")} (${format.toUpperCase()})`;
      one.dataset.file = `${name}.${format}`;
    });
  });
  state.follow(["document"], () => {
    const own = fileOf("document-words.csv");
    if (own) own.hidden = state.now.document < 0;
  });
}

/** @param {Content} content */
function wordTableTitle(content) {
  const shown = shownOfAll(content);
  const only = shown ? `, ${shown}` : "";
  return `${capital(nounOf(content))}s of all groups${atThisBeta(content)}${only}`;
}

/** @param {Content} content */
function keptSteps({ steps }) {
  const total = steps[steps.length - 1].step + 1; // the last one is always kept
  const kept = steps.length < total ? ` kept here, ${steps.length} of ${integer(total)}` : "";
  return `Steps of the path${kept}`;
}

/**
 * @param {KeyboardEvent} event @param {HTMLElement} menu @param {HTMLElement} button
 * @param {() => void} close
 */
function moveInMenu(event, menu, button, close) {
  const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (event.key === "Escape") {
    close();
    button.focus();
  }
  if (!by) return;
  event.preventDefault();
  event.stopPropagation();
  const items = [...menu.querySelectorAll("button")].filter((item) => !item.hidden);
  const at = items.findIndex((item) => item === document.activeElement);
  items[(at + by + items.length) % items.length].focus();
}

// Figures to take away: what the tab shows, as SVG or PNG, in the colours of the theme.

const NAME = 190; // pixels for the names of groups
const SCALE = 2; // pixels of a PNG for each of the SVG

// What the figure of a tab is called; others have none.
/** @type {Partial<Record<Tab, string>>} */
const NAMES = {
  map: "document-map",
  prototypes: "words",
  data: "words",
  labels: "labels",
  time: "time",
};

/** @typedef {{ saveSvg: () => void, savePng: () => void }} DocumentFigures */

/**
 * @param {App} app @param {"svg" | "png"} format
 * @param {{ words: () => SVGSVGElement | null, documents: DocumentFigures | null }} maps
 */
async function saveFigure(app, format, maps) {
  const name = NAMES[app.state.now.tab];
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
