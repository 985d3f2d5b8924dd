// What a pointer does on the maps: hover, drag, wheel, and choosing what is clicked on.

import { panBy, zoomTo } from "./columns.js";
import { HEAD } from "./map_labels.js";

/** @import { State, Target, Tooltip, View, Zoom } from "./types.d.ts" */

// What is under a point of the canvas: a row, a word, or a label above.
/** @param {View} view @param {number} x @param {number} y @returns {Target} */
function at(view, x, y) {
  const { columns, rows, step, gutter } = view;
  const row = rows.find((one) => y >= one.y && y < one.y + one.height) || null;
  if (x < gutter) return { row, place: -1, head: false };
  const place = Math.max(0, Math.min(step.W - 1, Math.floor(columns.place(x))));
  return { row, place, head: y < HEAD };
}

/**
 * @param {{ marks: HTMLElement, state: State, tooltip: Tooltip,
 *   zoom: (factor: number, centre?: number) => void, mark: (hovered?: Target) => void,
 *   view: () => View | null }} parts
 */
export function listenToPointer({ marks, state, tooltip, zoom, mark, view }) {
  /** @type {{ x: number, zoom: Zoom, moved: boolean } | null} */
  let drag = null;
  const centre = (/** @type {MouseEvent} */ event, /** @type {View} */ { columns }) => {
    return Math.min(
      1,
      Math.max(0, (event.offsetX - columns.left) / (columns.right - columns.left)),
    );
  };
  marks.addEventListener("pointermove", (event) => {
    const now = view();
    if (!now) return;
    if (drag) {
      const { columns } = now;
      const moved = (drag.x - event.offsetX) / (columns.right - columns.left);
      if (Math.abs(event.offsetX - drag.x) > 4) drag.moved = true;
      if (drag.moved) state.set({ zoom: panBy(drag.zoom, moved) });
      return;
    }
    const target = at(now, event.offsetX, event.offsetY);
    mark(target);
    tooltip.show(now, target, event.offsetX, event.offsetY);
  });
  marks.addEventListener("pointerleave", () => {
    mark();
    tooltip.hide();
  });
  marks.addEventListener("pointerdown", (event) => {
    marks.setPointerCapture(event.pointerId);
    drag = { x: event.offsetX, zoom: state.now.zoom, moved: false };
    tooltip.hide();
  });
  marks.addEventListener("pointerup", (event) => {
    const moved = drag?.moved;
    drag = null;
    const now = view();
    if (!moved && now) choose(now, at(now, event.offsetX, event.offsetY), state);
  });
  marks.addEventListener("pointercancel", () => {
    drag = null;
  });
  // A plain wheel scrolls the page, unless the map was clicked on.
  marks.addEventListener(
    "wheel",
    (event) => {
      const now = view();
      if (!now || !(event.ctrlKey || event.metaKey || document.activeElement === marks)) return;
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
        state.set({ zoom: panBy(state.now.zoom, event.deltaX / 600) });
      else zoom(Math.exp(-event.deltaY / 300), centre(event, now));
    },
    { passive: false },
  );
}

/** @param {View} view @param {Target} target @param {State} state */
function choose(view, { row, place, head }, state) {
  const { step, columns } = view;
  if (head) {
    const group = step.blocks.filter((block) => block.count === step.counts[step.order[place]]);
    const from = columns.share(group[0].start);
    const to = columns.share(group[group.length - 1].stop);
    state.set({ zoom: zoomTo(from, to, step) });
  } else {
    const word =
      place < 0 || (row && step.levels[row.k * step.W + step.order[place]] === 0)
        ? -1
        : step.order[place];
    state.set({ ...(row && { cluster: row.k, scope: "cluster" }), word });
  }
}
