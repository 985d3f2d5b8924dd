// What is being looked at: one object, those who follow it, and the address that restores it.

import { debounced } from "./dom.js";

export function createState(defaults, limits) {
  const now = { ...defaults, ...fromHash(location.hash, defaults, limits) };
  const followers = [];

  const remember = debounced(150, () => {
    const hash = toHash(now, defaults);
    if (hash !== location.hash) history.replaceState(null, "", hash || location.pathname);
  });

  const late = new Set();
  const catchUp = debounced(60, () => {
    const actions = [...late];
    late.clear();
    for (const action of actions) action();
  });

  const set = (changes) => {
    const changed = Object.keys(changes).filter((key) => String(now[key]) !== String(changes[key]));
    if (!changed.length) return;
    Object.assign(now, changes);
    for (const { keys, action, patient } of followers) {
      if (!changed.some((key) => keys.includes(key))) continue;
      if (patient && changed.every((key) => key === "step" || !keys.includes(key)))
        late.add(action);
      else action();
    }
    if (late.size) catchUp();
    remember();
  };

  // Called at once, and whenever one of these changes.
  const follow = (keys, action) => {
    followers.push({ keys, action, patient: false });
    action();
  };

  // The same, but while the slider moves: what is below the first screen waits until it rests.
  const followAtRest = (keys, action) => {
    followers.push({ keys, action, patient: true });
    action();
  };

  addEventListener("hashchange", () => {
    set({ ...defaults, ...fromHash(location.hash, defaults, limits) });
  });
  return { now, set, follow, followAtRest };
}

function toHash(now, defaults) {
  const told = new URLSearchParams();
  for (const [key, usual] of Object.entries(defaults)) {
    if (String(now[key]) !== String(usual)) told.set(key, String(now[key]));
  }
  const text = told.toString();
  return text && `#${text}`;
}

// An address may come from anywhere: what is not a value of its kind is passed over.
function fromHash(hash, defaults, limits) {
  const found = {};
  for (const [key, text] of new URLSearchParams(hash.slice(1))) {
    if (!Object.hasOwn(defaults, key)) continue;
    const limit = limits[key];
    if (Array.isArray(defaults[key])) {
      const [from, to] = text.split(",").map(Number);
      if (from >= 0 && to <= 1 && from < to) found[key] = [from, to];
    } else if (typeof defaults[key] === "number") {
      const number = Number(text);
      if (Number.isInteger(number) && number >= limit[0] && number <= limit[1]) found[key] = number;
    } else if (!limit || limit.includes(text)) found[key] = text;
  }
  return found;
}
