// The view of the map as a file: pixels (PNG) or shapes (SVG).

import { makeSvg } from "./dom.js";
import { toScreen } from "./document_map_view.js";

/** @import { MapView, PlacedLabel, Points, Shown } from "./types.d.ts" */

/** @param {number} colour */
export function hex(colour) {
  return `#${colour.toString(16).padStart(6, "0")}`;
}

// The documents in view as circles, a path for each colour, and the names above them.
/**
 * @param {Points} points @param {Shown} shown @param {MapView} view @param {number} radius
 * @param {PlacedLabel[]} labels @param {string} ink
 */
export function toSvg(points, shown, view, radius, labels, ink) {
  const { width, height } = view;
  const ground = hex(shown.ground);
  const root = makeSvg("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
  });
  root.append(makeSvg("rect", { width, height, fill: ground }));
  for (const [ids, opacity] of /** @type {[Uint32Array, number][]} */ ([
    [shown.order.faded, 0.16],
    [shown.order.full, 1],
  ])) {
    const paths = discs(points, shown.colours, ids, view, radius);
    for (const [colour, path] of paths)
      root.append(
        makeSvg("path", { d: path.join(""), fill: hex(colour), "fill-opacity": opacity }),
      );
  }
  for (const { text, size, left, top, height: high } of labels)
    root.append(
      makeSvg("text", {
        x: left.toFixed(1),
        y: (top + high / 2).toFixed(1),
        "dominant-baseline": "central",
        "font-family": "system-ui, sans-serif",
        "font-weight": 600,
        "font-size": size.toFixed(1),
        fill: ink,
        stroke: ground,
        "stroke-width": (size / 3).toFixed(1),
        "stroke-linejoin": "round",
        "paint-order": "stroke",
        text,
      }),
    );
  return root;
}

/**
 * @param {Points} points @param {Uint32Array} colours @param {Uint32Array} ids
 * @param {MapView} view @param {number} radius
 */
function discs(points, colours, ids, view, radius) {
  /** @type {Map<number, string[]>} */
  const paths = new Map();
  const r = radius.toFixed(2);
  const wide = (2 * radius).toFixed(2);
  for (const i of ids) {
    const [x, y] = toScreen(view, points.x[i], points.y[i]);
    if (x < -radius || y < -radius || x > view.width + radius || y > view.height + radius) continue;
    const path = paths.get(colours[i]) ?? [];
    if (!path.length) paths.set(colours[i], path);
    const left = (x - radius).toFixed(1);
    path.push(`M${left} ${y.toFixed(1)}a${r} ${r} 0 1 0 ${wide} 0a${r} ${r} 0 1 0 -${wide} 0`);
  }
  return paths;
}
