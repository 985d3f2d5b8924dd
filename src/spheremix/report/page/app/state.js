// What is being looked at: one object, those who follow it, and the address that restores it.

import { debounced } from "../lib/dom.js";

/** @import { Key, Limits, Now, State, Zoom } from "../types.d.ts" */

// Going back in the browser undoes these; the others (sliders, zoom, filters) are passed over.
/** @type {Key[]} */
const PLACES = ["group", "node", "cut", "document", "tab", "candidate"];
/** @type {Set<Key>} */
const UNSAID = new Set(["edited"]); // no part of the address

/**
 * @param {Now} defaults @param {Limits} limits
 * @param {(now: Now) => Partial<Now>} mend what to change where values do not go together
 * @returns {State}
 */
export function createState(defaults, limits, mend = () => ({})) {
  const read = () => {
    const found = { ...defaults, ...fromHash(location.hash, defaults, limits) };
    return { ...found, ...mend(found) };
  };
  const now = read();
  /** @type {{ keys: Key[], action: () => void, patient: boolean }[]} */
  const followers = [];

  let left = false; // a place that one may want to go back to
  const remember = debounced(150, () => {
    if (location.protocol === "about:") return; // in the frame of a notebook there is no address
    const hash = toHash(now, defaults);
    const go = left ? "pushState" : "replaceState";
    left = false;
    if (hash !== location.hash) history[go](null, "", hash || location.pathname);
  });

  /** @type {Set<() => void>} */
  const late = new Set();
  const catchUp = debounced(60, () => {
    const actions = [...late];
    late.clear();
    for (const action of actions) action();
  });

  const set = (/** @type {Partial<Now>} */ changes) => {
    const asked = /** @type {Key[]} */ (Object.keys(changes));
    const changed = asked.filter((key) => String(now[key]) !== String(changes[key]));
    if (!changed.length) return;
    Object.assign(now, changes);
    left ||= changed.some((key) => PLACES.includes(key));
    for (const { keys, action, patient } of followers) {
      if (!changed.some((key) => keys.includes(key))) continue;
      if (patient && changed.every((key) => key === "step" || !keys.includes(key)))
        late.add(action);
      else action();
    }
    if (late.size) catchUp();
    remember();
  };

  // Called at once, and whenever one of these changes. What is patient waits while the slider moves.
  const following =
    (/** @type {boolean} */ patient) =>
    (/** @type {Key[]} */ keys, /** @type {() => void} */ action) => {
      followers.push({ keys, action, patient });
      action();
    };

  // Back and forward, or an address that was typed.
  addEventListener("hashchange", () => {
    /** @type {Partial<Now>} */
    const told = read();
    for (const key of UNSAID) delete told[key];
    set(told);
    left = false;
  });
  return { now, set, follow: following(false), followAtRest: following(true) };
}

/** @param {Now} now @param {Now} defaults */
function toHash(now, defaults) {
  const told = new URLSearchParams();
  for (const key of /** @type {Key[]} */ (Object.keys(defaults))) {
    if (!UNSAID.has(key) && String(now[key]) !== String(defaults[key]))
      told.set(key, String(now[key]));
  }
  const text = told.toString();
  return text && `#${text}`;
}

// Return the values of an address, which may come from anywhere: others than allowed are left out.
/** @param {string} hash @param {Now} defaults @param {Limits} limits @returns {Partial<Now>} */
function fromHash(hash, defaults, limits) {
  /** @type {Record<string, number | string | Zoom>} */
  const found = {};
  for (const [name, text] of new URLSearchParams(hash.slice(1))) {
    if (!Object.hasOwn(defaults, name)) continue;
    const key = /** @type {Key} */ (name);
    if (UNSAID.has(key)) continue;
    const limit = limits[key];
    if (Array.isArray(defaults[key])) {
      const [from, to] = text.split(",").map(Number);
      if (from >= 0 && to <= 1 && from < to) found[key] = [from, to];
    } else if (typeof defaults[key] === "number") {
      const number = Number(text);
      const [least, most] = /** @type {[number, number]} */ (limit);
      const isOne = text !== "" && Number.isInteger(number);
      if (isOne && number >= least && number <= most) found[key] = number;
    } else if (isAllowed(text, limit)) found[key] = text;
  }
  return found;
}

/** @param {string} text @param {Limits[Key]} limit */
function isAllowed(text, limit) {
  if (!limit) return true;
  return limit instanceof RegExp ? limit.test(text) : limit.some((one) => one === text);
}
