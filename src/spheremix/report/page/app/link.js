// The button that copies the address of what is shown: groups, filters, colours and the part of the map.

import { find } from "../lib/dom.js";

const TOLD = 1600; // milliseconds

export function mountLink() {
  const button = find("copy-link");
  const said = button.textContent;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  button.addEventListener("click", async () => {
    // The address follows what is shown a moment later.
    await new Promise((done) => setTimeout(done, 200));
    const copied = await copy(location.href);
    button.textContent = copied ? "copied" : "see the address bar";
    clearTimeout(timer);
    timer = setTimeout(() => (button.textContent = said), TOLD);
  });
}

/** @param {string} text @returns {Promise<boolean>} */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
