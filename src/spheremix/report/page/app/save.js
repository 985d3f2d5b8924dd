// What can be taken away: tables, figures, the page on paper.

import { find, make, present } from "../lib/dom.js";
import { saveBlob, saveText, toCsv } from "../lib/files.js";
import { atThisBeta, capital, integer, nounOf, shownOfAll } from "../lib/format.js";
import { figuresOf, toPng } from "./figures.js";
import {
  candidateTable,
  groupTable,
  contributionsTable,
  documentTable,
  pathTable,
  wordTable,
} from "./tables.js";

/** @import { App, Content, Table } from "../types.d.ts" */
/** @import { Maps } from "./figures.js" */

const LISTED = "documents.csv";

/**
 * @param {App} app @param {() => number[]} listed
 * @param {Maps} maps
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
  const printing = item("Print, or save as PDF", null, () => print());
  // What can be drawn depends on what is shown.
  const offer = () => {
    const figures = figuresOf(app, maps).flatMap(({ name, text, draw }) =>
      /** @type {("png" | "svg")[]} */ (["png", "svg"]).map((format) =>
        item(
          `${text} (${format.toUpperCase()})`,
          `${name}.${format}`,
          () => void saveFigure(name, format, maps.onPaper(draw)),
        ),
      ),
    );
    menu.replaceChildren(...figures, ...items, printing);
  };
  const fileOf = (/** @type {string} */ name) => items.find((one) => one.dataset.file === name);
  button.addEventListener("click", () => {
    const list = fileOf(LISTED);
    if (list) list.textContent = `Documents listed: ${integer(listed().length)} (CSV)`;
    menu.hidden = !menu.hidden;
    button.setAttribute("aria-expanded", String(!menu.hidden));
    if (menu.hidden) return;
    offer();
    menu.querySelector("button")?.focus();
  });
  menu.addEventListener("keydown", (event) => moveInMenu(event, menu, button, close));
  document.addEventListener("click", (event) => {
    if (event.target instanceof Node && !menu.contains(event.target) && event.target !== button)
      close();
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

/** @param {string} name @param {"svg" | "png"} format @param {SVGSVGElement | null} drawing */
async function saveFigure(name, format, drawing) {
  if (!drawing) return;
  drawing.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const text = new XMLSerializer().serializeToString(drawing);
  if (format === "svg") saveText(`${name}.svg`, text, "image/svg+xml");
  else saveBlob(`${name}.png`, await toPng(text, drawing));
}
