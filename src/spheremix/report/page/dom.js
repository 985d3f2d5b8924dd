// Elements made one by one: what comes from the corpus only ever becomes text or an attribute.

const SVG = "http://www.w3.org/2000/svg";

function furnish(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) {
        element.addEventListener(event, listener);
      }
    } else if (name === "text") element.textContent = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function make(tag, properties = {}, ...children) {
  return furnish(document.createElement(tag), properties, children);
}

export function makeSvg(tag, properties = {}, ...children) {
  return furnish(document.createElementNS(SVG, tag), properties, children);
}

// Text from the corpus in a line of the page: it keeps its own direction, and its marks inside it.
export function bdi(text, properties = {}) {
  return make("bdi", { text, ...properties });
}

export function find(id) {
  return document.getElementById(id);
}

// One choice of several, side by side.
export function segmented(label, choices, onChoose) {
  const buttons = new Map();
  const group = make("div", { class: "segmented", role: "group", "aria-label": label });
  for (const [value, text, title] of choices) {
    const on = { click: () => onChoose(value) };
    const button = make("button", { type: "button", text, title, "aria-pressed": "false", on });
    buttons.set(value, button);
    group.append(button);
  }
  const choose = (chosen) => {
    for (const [value, button] of buttons) {
      button.setAttribute("aria-pressed", String(value === chosen));
    }
  };
  const rename = (value, text) => {
    buttons.get(value).textContent = text;
  };
  return { group, choose, rename };
}

export function debounced(delay, action) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), delay);
  };
}
