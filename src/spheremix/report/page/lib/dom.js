// Elements made one by one, and lists of them: what comes from the corpus only ever becomes text or an
// attribute.

/** @import { Child, Places, Properties } from "../types.d.ts" */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @template {Element} E
 * @param {E} element @param {Properties} properties @param {Child[]} children
 * @returns {E}
 */
function furnish(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "object") {
      for (const [event, listener] of Object.entries(value)) {
        element.addEventListener(event, /** @type {EventListener} */ (listener));
      }
    } else if (name === "text") element.textContent = String(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Properties} properties @param {Child[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function make(tag, properties = {}, ...children) {
  return furnish(document.createElement(tag), properties, children);
}

/**
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag @param {Properties} properties @param {Child[]} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function makeSvg(tag, properties = {}, ...children) {
  return furnish(document.createElementNS(SVG, tag), properties, children);
}

// Return text from the corpus in a line of the page: it keeps its own direction, and its marks
// inside.
/** @param {string} text @param {Properties} properties */
export function bdi(text, properties = {}) {
  return make("bdi", { text, ...properties });
}

/**
 * Return a button that looks like a link.
 * @param {Node | string} child @param {() => void} click @param {Properties} more
 */
export function textButton(child, click, more = {}) {
  return make("button", { type: "button", class: "plain", ...more, on: { click } }, child);
}

// Return a button with a sign or a short word on it. What is heard begins with what is seen, unless
// that is a sign.
/** @param {string} text @param {string} title @param {() => void} click */
export function signButton(text, title, click) {
  const label = /\p{L}/u.test(text) ? `${text}: ${title}` : title;
  return make("button", { type: "button", text, title, "aria-label": label, on: { click } });
}

// Return a bar over a part of the width; that of a negative value is hollow.
/** @param {number} share @param {boolean} negative */
export function barOf(share, negative = false) {
  const name = negative ? "bar negative" : "bar";
  const bar = make("span", { class: name, "aria-hidden": "true" });
  bar.style.width = `${100 * share}%`;
  return bar;
}

/** Put a separator between parts. @param {(Node | string)[]} parts @param {string} separator */
export function separated(parts, separator) {
  return parts.flatMap((one, i) => (i ? [separator, one] : [one]));
}

/** Return a paragraph that explains. @param {string} text */
export function softLine(text) {
  return make("p", { class: "soft", text });
}

/** Return what stands small beside a title. @param {string} text */
export function noteSpan(text) {
  return make("span", { class: "note", text });
}

/** Return a part of a panel. @param {Child} title @param {string} note @param {Child[]} children */
export function part(title, note, ...children) {
  const head = make("h3", { title: note || null }, title, note ? noteSpan(note) : null);
  return make("section", { class: "part" }, head, ...children);
}

/** Return a table. @param {string} name @param {Child[]} head its cells @param {Child[]} rows */
export function tableOf(name, head, rows) {
  const top = make("thead", {}, make("tr", {}, ...head));
  return make("table", { class: name }, top, make("tbody", {}, ...rows));
}

/** Return what is wider than a small screen: the keyboard scrolls it. @param {string} label @param {Child} child */
export function wideBox(label, child) {
  return make("div", { class: "wide", role: "group", tabindex: "0", "aria-label": label }, child);
}

/**
 * Return a choice from a list.
 * @param {string} id @param {string} label @param {[value: string | number, text: string][]} choices
 * @param {(value: string) => void} onChoose
 */
export function selectOf(id, label, choices, onChoose) {
  const options = choices.map(([value, text]) => make("option", { value, text }));
  const select = make("select", { id, "aria-label": label }, ...options);
  select.addEventListener("change", () => onChoose(select.value));
  return select;
}

/**
 * @template {string} I
 * @param {I} id
 * @returns {I extends keyof Places ? Places[I] : HTMLElement}
 */
export function find(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element ${id}.`);
  return /** @type {any} */ (found);
}

/** @param {HTMLCanvasElement} canvas @param {CanvasRenderingContext2DSettings} settings */
export function contextOf(canvas, settings = {}) {
  const context = canvas.getContext("2d", settings);
  if (!context) throw new Error("This browser cannot draw the maps.");
  return context;
}

/**
 * What is there: items that are null, undefined or false are left out.
 * @template T
 * @param {(T | null | undefined | false)[]} items
 * @returns {T[]}
 */
export function present(items) {
  const kept = items.filter((one) => one !== null && one !== undefined && one !== false);
  return /** @type {T[]} */ (kept);
}

/**
 * Return one choice of several, side by side.
 * @template {string} V
 * @param {string} label
 * @param {[value: V, text: string, title?: string][]} choices
 * @param {(value: V) => void} onChoose
 */
export function segmented(label, choices, onChoose) {
  /** @type {Map<V, HTMLElement>} */
  const buttons = new Map();
  const group = make("div", { class: "segmented", role: "group", "aria-label": label });
  for (const [value, text, title] of choices) {
    const on = { click: () => onChoose(value) };
    const button = make("button", {
      ...{ type: "button", text, title, on },
      ...{ "aria-pressed": "false", "data-value": value },
    });
    buttons.set(value, button);
    group.append(button);
  }
  const choose = (/** @type {V} */ chosen) => {
    for (const [value, button] of buttons) {
      button.setAttribute("aria-pressed", String(value === chosen));
    }
  };
  rove(group, "button");
  return { group, choose };
}

// Scroll the box, not the page, until the row is seen, past what covers the ends of the box.
/** @param {HTMLElement} box @param {HTMLElement} row @param {number} above @param {number} below */
export function reveal(box, row, above = 0, below = 0) {
  const inner = row.getBoundingClientRect();
  const outer = box.getBoundingClientRect();
  const [top, bottom] = [outer.top + above, outer.bottom - below];
  if (inner.top < top) box.scrollTop -= Math.ceil(top - inner.top);
  else if (inner.bottom > bottom) box.scrollTop += Math.ceil(inner.bottom - bottom);
}

// Return how far a box is scrolled, without asking the browser, which would lay out everything
// anew.
/** @param {HTMLElement} box */
export function createScroll(box) {
  let top = 0;
  const read = () => {
    top = box.scrollTop;
  };
  box.addEventListener("scroll", read, { passive: true });
  const to = (/** @type {number} */ next) => {
    if (next === top) return;
    box.scrollTop = next;
    top = next;
  };
  return { to, read, top: () => top };
}

/**
 * @template {unknown[]} V
 * @param {number} delay @param {(...values: V) => void} action
 */
export function debounced(delay, action) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return (/** @type {V} */ ...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), delay);
  };
}

// A list of buttons that is one stop of the tabulator: within it, the arrows move.

/** @param {HTMLElement} list @param {string} selector of the buttons */
export function rove(list, selector) {
  const all = () => /** @type {HTMLElement[]} */ ([...list.querySelectorAll(selector)]);
  all().forEach((button, i) => (button.tabIndex = i ? -1 : 0));
  list.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const buttons = all();
    const at = buttons.findIndex((button) => button === document.activeElement);
    if (at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    const next = buttons[Math.max(0, Math.min(buttons.length - 1, at + by))];
    for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
    next.focus();
  });
  return list;
}

// A list of any length: only the rows that are seen exist.

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
    if (first) {
      scroll.read(); // what was hidden may come back with the place that it had
      choose(chosen);
    } else draw();
  }).observe(box);
  return { show, choose, items: () => items };
}
