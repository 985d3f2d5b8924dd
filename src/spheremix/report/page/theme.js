// Light or dark: as the system says, unless chosen here.

import { find } from "./dom.js";

/** @import { State } from "./types.d.ts" */

/** @param {State} state @param {() => void} recolour @param {() => void} printed */
export function mountTheme(state, recolour, printed) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const button = find("dark");
  const dark = () => (state.now.theme === "auto" ? system.matches : state.now.theme === "dark");
  const apply = () => {
    document.documentElement.dataset.theme = dark() ? "dark" : "light";
    button.setAttribute("aria-pressed", String(dark()));
    recolour();
  };
  button.addEventListener("click", () => state.set({ theme: dark() ? "light" : "dark" }));
  system.addEventListener("change", apply);
  state.follow(["theme"], apply);
  // Paper is white.
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.theme = "light";
    recolour();
    printed();
  });
  addEventListener("afterprint", apply);
}
