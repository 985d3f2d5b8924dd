// What hands do on the map of documents: drag, wheel, pinch, lasso, click and keys.

import { movedView, toMap, zoomedView } from "./view.js";

/** @import { MapGestures } from "../types.d.ts" */

const CLICK = 4; // pixels that a hand may tremble
const NEARER = 1.6;

/** @param {HTMLCanvasElement} canvas @param {MapGestures} map */
export function listenToGestures(canvas, map) {
  /** @type {Map<number, [number, number]>} */
  const pointers = new Map();
  /** @type {[number, number][] | null} */
  let line = null; // of the lasso, on the map
  let from = [0, 0];
  let moved = false;

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    moved = pointers.size > 1;
    from = [event.offsetX, event.offsetY];
    const around = pointers.size === 1 && (event.shiftKey || map.isLasso());
    line = around ? [toMap(map.view(), event.offsetX, event.offsetY)] : null;
    map.hover(-1, 0, 0);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = [event.offsetX, event.offsetY];
    const before = pointers.get(event.pointerId);
    if (!before) {
      const onName = map.name(x, y) !== null;
      map.hover(onName ? -1 : map.near(x, y), x, y);
      if (onName && !map.isLasso()) canvas.style.cursor = "pointer";
      return;
    }
    if (Math.hypot(x - from[0], y - from[1]) > CLICK) moved = true;
    const others = [...pointers].filter(([id]) => id !== event.pointerId);
    pointers.set(event.pointerId, [x, y]);
    if (others.length) {
      const [, [left, top]] = others[0];
      const wide = Math.hypot(before[0] - left, before[1] - top);
      const factor = Math.hypot(x - left, y - top) / Math.max(wide, 1);
      const half = movedView(map.view(), (x - before[0]) / 2, (y - before[1]) / 2);
      map.show(zoomedView(half, factor, (x + left) / 2, (y + top) / 2));
    } else if (line && moved) {
      line.push(toMap(map.view(), x, y));
      map.drawLasso(line);
    } else if (moved) {
      map.show(movedView(map.view(), x - before[0], y - before[1]));
    }
  });
  const click = (/** @type {number} */ x, /** @type {number} */ y) => {
    const group = map.name(x, y);
    if (group === null) map.select(map.near(x, y));
    else map.choose(group);
  };
  const release = (/** @type {PointerEvent} */ event) => {
    if (!pointers.delete(event.pointerId) || pointers.size) return;
    if (line && moved) map.lasso(line);
    else if (!moved && event.type === "pointerup") click(from[0], from[1]);
    line = null;
    map.drawLasso(null);
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => map.hover(-1, 0, 0));
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : 1;
      const factor = Math.exp((-event.deltaY * lines) / 400);
      map.show(zoomedView(map.view(), factor, event.offsetX, event.offsetY));
    },
    { passive: false },
  );
  canvas.addEventListener("dblclick", (event) => {
    map.show(zoomedView(map.view(), NEARER * NEARER, event.offsetX, event.offsetY));
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = keys(map)[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  });
}

/** @param {MapGestures} map @returns {Record<string, () => void>} */
function keys(map) {
  const view = map.view();
  const step = 60;
  const move = (/** @type {number} */ right, /** @type {number} */ down) => () =>
    map.show(movedView(view, right, down));
  const zoom = (/** @type {number} */ factor) => () => map.show(zoomedView(view, factor));
  return {
    ArrowLeft: move(step, 0),
    ArrowRight: move(-step, 0),
    ArrowUp: move(0, step),
    ArrowDown: move(0, -step),
    "+": zoom(NEARER),
    "=": zoom(NEARER),
    "-": zoom(1 / NEARER),
    0: () => map.reset(),
    Enter: () => map.select(map.near(view.width / 2, view.height / 2, Infinity)),
  };
}
