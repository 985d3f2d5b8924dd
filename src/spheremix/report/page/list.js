// A list of any length: only the rows that are seen exist.

import { createScroll, make } from "./dom.js";

const SPARE = 4; // rows above and below

/**
 * @param {HTMLElement} box @param {number} rowHeight
 * @param {(item: number) => HTMLElement} makeRow @param {(item: number) => void} onChoose
 */
export function createList(box, rowHeight, makeRow, onChoose) {
  const space = make("div", { class: "space" });
  box.replaceChildren(space);
  /** @type {number[]} */
  let items = [];
  let chosen = -1;
  let height = 0; // of the box, told when it changes: to ask for it is slow
  const scroll = createScroll(box);

  const draw = () => {
    const top = scroll.top();
    const first = Math.max(0, Math.floor(top / rowHeight) - SPARE);
    const stop = Math.min(items.length, Math.ceil((top + height) / rowHeight) + SPARE);
    const rows = [];
    for (let at = first; at < stop; at++) rows.push(placed(items[at], at));
    space.replaceChildren(...rows);
    const here = rows.find((row) => row.getAttribute("aria-selected") === "true");
    if (here) box.setAttribute("aria-activedescendant", here.id);
    else box.removeAttribute("aria-activedescendant");
  };

  const placed = (/** @type {number} */ item, /** @type {number} */ at) => {
    const row = makeRow(item);
    row.id = `${box.id}-${item}`;
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", String(item === chosen));
    row.setAttribute("aria-posinset", String(at + 1));
    row.setAttribute("aria-setsize", String(items.length));
    row.style.top = `${at * rowHeight}px`;
    row.addEventListener("click", () => onChoose(item));
    return row;
  };

  const show = (/** @type {number[]} */ newItems, /** @type {number} */ newChosen) => {
    items = newItems;
    space.style.height = `${items.length * rowHeight}px`;
    // From the top: the chosen one is not looked for, since another order was asked for.
    scroll.to(0);
    chosen = newChosen;
    draw();
  };

  // The row of the chosen one is brought into sight.
  const choose = (/** @type {number} */ item) => {
    chosen = item;
    const at = height ? items.indexOf(item) : -1; // before it has a height, it has no sight either
    const top = at * rowHeight;
    if (at >= 0 && top < scroll.top()) scroll.to(top);
    else if (at >= 0 && top + rowHeight > scroll.top() + height)
      scroll.to(top + rowHeight - height);
    draw();
  };

  box.addEventListener("scroll", draw, { passive: true });
  new ResizeObserver(() => {
    const first = height === 0;
    height = box.clientHeight;
    if (first) choose(chosen);
    else draw();
  }).observe(box);
  return { show, choose, items: () => items };
}
