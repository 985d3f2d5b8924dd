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
