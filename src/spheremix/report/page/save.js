// What can be taken away: tables, the page on paper, the address of this view.

import { find, make, present } from "./dom.js";
import { saveText, toCsv } from "./csv.js";
import { figureName, saveFigure } from "./figures.js";
import { atThisBeta, capital, integer, nounOf, shownOfAll } from "./format.js";
import {
  candidateTable,
  clusterTable,
  contributionsTable,
  documentTable,
  pathTable,
  wordTable,
} from "./tables.js";

/** @import { App, Content, Table } from "./types.d.ts" */

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
    ["clusters.csv", `Groups${atThisBeta(content)}`, () => clusterTable(app)],
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
  button.addEventListener("click", () => {
    for (const one of items)
      if (one.dataset.file === LISTED)
        one.textContent = `Documents listed: ${integer(listed().length)} (CSV)`;
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
    const name = figureName(state.now);
    figures.forEach((one, i) => {
      const format = i ? "png" : "svg";
      one.hidden = !name;
      one.textContent = `Figure: ${name?.replace("-", " ")} (${format.toUpperCase()})`;
      one.dataset.file = `${name}.${format}`;
    });
  });
  state.follow(["document"], () => {
    for (const one of items)
      if (one.dataset.file === "document-words.csv") one.hidden = state.now.document < 0;
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
