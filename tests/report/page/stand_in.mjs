// Just enough of a browser for modules that make elements: no layout, no events of its own.

class StandIn {
  constructor(tag) {
    this.tag = tag;
    this.attributes = {};
    this.listeners = {};
    this.children = [];
    this.style = {};
  }

  setAttribute(name, value) {
    this.attributes[name] = value;
  }

  addEventListener(event, listener) {
    this.listeners[event] = listener;
  }

  append(...children) {
    this.children.push(...children);
  }

  querySelectorAll() {
    return [];
  }

  set textContent(text) {
    this.children = [text];
  }

  get textContent() {
    return this.children
      .map((child) => (typeof child === "string" ? child : child.textContent))
      .join("");
  }
}

export function useStandIn() {
  globalThis.document = {
    createElement: (tag) => new StandIn(tag),
    createElementNS: (_, tag) => new StandIn(tag),
    getElementById: () => null,
  };
}
