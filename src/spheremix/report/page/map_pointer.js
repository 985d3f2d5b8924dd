// What a pointer does on the maps: hover, drag, wheel, and choosing what is clicked on.

import { panBy, zoomTo } from "./columns.js";
import { HEAD } from "./map_labels.js";

// What is under a point of the canvas: a row, a word, or a label above.
function at(view, x, y) {
  const { columns, rows, step, gutter } = view;
  const row = rows.find((one) => y >= one.y && y < one.y + one.height) || null;
  if (x < gutter) return { row, place: -1 };
  const place = Math.max(0, Math.min(step.W - 1, Math.floor(columns.place(x))));
  return { row, place, head: y < HEAD };
}

export function listenToPointer({ marks, state, tooltip, zoom, mark, view }) {
  let drag = null;
  const point = (event) => [event.offsetX, event.offsetY];
  const centre = (event) => {
    const { columns } = view();
    return Math.min(
      1,
      Math.max(0, (event.offsetX - columns.left) / (columns.right - columns.left)),
    );
  };
  marks.addEventListener("pointermove", (event) => {
    if (!view()) return;
    if (drag) {
      const { columns } = view();
      const moved = (drag.x - event.offsetX) / (columns.right - columns.left);
      if (Math.abs(event.offsetX - drag.x) > 4) drag.moved = true;
      if (drag.moved) state.set({ zoom: panBy(drag.zoom, moved) });
      return;
    }
    const target = at(view(), ...point(event));
    mark(target);
    tooltip.show(view(), target, ...point(event));
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
    const moved = drag && drag.moved;
    drag = null;
    if (!moved && view()) choose(view(), at(view(), ...point(event)), state);
  });
  marks.addEventListener("pointercancel", () => (drag = null));
  // A plain wheel scrolls the page, unless the map was clicked on.
  marks.addEventListener(
    "wheel",
    (event) => {
      if (!view() || !(event.ctrlKey || event.metaKey || document.activeElement === marks)) return;
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
        state.set({ zoom: panBy(state.now.zoom, event.deltaX / 600) });
      else zoom(Math.exp(-event.deltaY / 300), centre(event));
    },
    { passive: false },
  );
}

function choose(view, { row, place, head }, state) {
  const { step, columns } = view;
  if (head) {
    const group = step.blocks.filter((block) => block.count === step.counts[step.order[place]]);
    const from = columns.share(group[0].start);
    const to = columns.share(group.at(-1).stop);
    state.set({ zoom: zoomTo(from, to, step) });
  } else {
    const word =
      place < 0 || (row && step.levels[row.k * step.W + step.order[place]] === 0)
        ? -1
        : step.order[place];
    state.set({ ...(row && { cluster: row.k }), word });
  }
}
