// Documents that are drawn around on the map: only they are listed, until the line is cleared.

/** @import { Lasso, State } from "./types.d.ts" */

/** @param {State} state @returns {Lasso} */
export function createLasso(state) {
  /** @type {Lasso} */
  const lasso = {
    has: null,
    set: (ids) => {
      const inside = new Set(Array.from(ids));
      lasso.has = inside.size ? (i) => inside.has(i) : null;
      state.set({ lassoed: inside.size, ...(inside.size && { scope: "all" }) });
    },
  };
  return lasso;
}
