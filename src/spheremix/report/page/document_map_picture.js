// The view of the map as a file: pixels (PNG) or shapes (SVG).

import { makeSvg } from "./dom.js";
import { discOf, leaderOf } from "./document_map_labels.js";
import { FULL } from "./document_map_points.js";
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
    [shown.order.faded, shown.faint / FULL],
    [shown.order.full, 1],
  ])) {
    const paths = discs(points, shown.colours, ids, view, radius);
    for (const [colour, path] of paths)
      root.append(
        makeSvg("path", { d: path.join(""), fill: hex(colour), "fill-opacity": opacity }),
      );
  }
  root.append(...labels.flatMap((label) => marksOf(label, ink, ground)));
  for (const { text, size, left, top, before, height: high } of labels)
    root.append(
      makeSvg("text", {
        x: (left + before).toFixed(1),
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

// The disc before a name, and the line that leads to its documents.
/** @param {PlacedLabel} label @param {string} ink @param {string} ground */
function marksOf(label, ink, ground) {
  const marks = [];
  const leader = leaderOf(label)?.map((one) => one.toFixed(1));
  if (leader) {
    const [x1, y1, x2, y2] = leader;
    marks.push(makeSvg("line", { x1, y1, x2, y2, stroke: ink, "stroke-width": 1.25 }));
  }
  const [cx, cy, r] = discOf(label).map((one) => one.toFixed(1));
  const { colour } = label;
  if (colour) marks.push(makeSvg("circle", { cx, cy, r, fill: colour, stroke: ground }));
  return marks;
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
