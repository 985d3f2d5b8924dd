// What can be taken away: tables, the page on paper, the address of this view.

import { find, make } from "./dom.js";
import { download, toCsv } from "./csv.js";
import { atThisBeta, capital, integer, nounOf, shownOfAll } from "./format.js";
import {
  candidateTable,
  clusterTable,
  contributionsTable,
  documentTable,
  pathTable,
  wordTable,
} from "./tables.js";

export function mountSave(app, listed) {
  const { content, state } = app;
  const menu = find("save-menu");
  const button = find("save");
  const tables = [
    ["clusters.csv", `Clusters${atThisBeta(content)}`, () => clusterTable(app)],
    ["words.csv", wordTableTitle(content), () => wordTable(app)],
    content.documents && [
      "documents.csv",
      "Documents listed below",
      () => documentTable(app, listed()),
    ],
    content.rows && [
      "document-words.csv",
      "Words of the document read",
      () => contributionsTable(app),
    ],
    content.steps.length > 1 && ["path.csv", keptSteps(content), () => pathTable(app)],
    content.candidates &&
      content.candidates.length && [
        "candidates.csv",
        "Numbers of clusters tried",
        () => candidateTable(app),
      ],
  ].filter(Boolean);
  const close = () => {
    menu.hidden = true;
    button.setAttribute("aria-expanded", "false");
  };
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
  const items = tables.map(([name, text, table]) =>
    item(`${text} (CSV)`, name, () => {
      const { columns, rows } = table();
      download(name, toCsv(columns, rows));
    }),
  );
  menu.replaceChildren(
    ...items,
    item("Print, or save as PDF", null, () => print()),
  );
  button.addEventListener("click", () => {
    menu.hidden = !menu.hidden;
    button.setAttribute("aria-expanded", String(!menu.hidden));
    if (!menu.hidden) menu.firstChild.focus();
  });
  menu.addEventListener("keydown", (event) => moveInMenu(event, menu, button, close));
  document.addEventListener("click", (event) => {
    if (!menu.contains(event.target) && event.target !== button) close();
  });
  state.follow(["document"], () => {
    const words = menu.querySelector("[data-file='document-words.csv']");
    if (words) words.hidden = state.now.document < 0;
  });
}

function wordTableTitle(content) {
  const shown = shownOfAll(content);
  const only = shown ? `, ${shown}` : "";
  return `${capital(nounOf(content))}s of all clusters${atThisBeta(content)}${only}`;
}

function keptSteps({ steps }) {
  const total = steps.at(-1).step + 1; // the last one is always kept
  const kept = steps.length < total ? ` kept here, ${steps.length} of ${integer(total)}` : "";
  return `Steps of the path${kept}`;
}

function moveInMenu(event, menu, button, close) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Escape") {
    close();
    button.focus();
  }
  if (!by) return;
  event.preventDefault();
  event.stopPropagation();
  const items = [...menu.children].filter((item) => !item.hidden);
  const at = items.indexOf(document.activeElement);
  items[(at + by + items.length) % items.length].focus();
}
