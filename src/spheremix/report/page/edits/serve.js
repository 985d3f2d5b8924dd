// A page that is served: edits are sent to the run, and how far they are is asked for until it is done.

/** @typedef {{ state: string, what: string, share: number, message: string }} Progress */

const EVERY = 400; // milliseconds
const GONE =
  "The server does not answer. Start spheremix serve again and open its address: if it has the same port, the " +
  "edits are still here.";

/** Return whether edits can be applied from here. @param {Pick<Location, "protocol">} place */
export function isServed({ protocol }) {
  return protocol === "http:";
}

/**
 * Return the folder of the run that a page lies in, as a shell reads it; "RUN" where it is not known.
 * @param {Pick<Location, "protocol" | "pathname">} place
 */
export function runFolder({ protocol, pathname }) {
  const found = /^(.*)\/report\.html$/u.exec(decodeURIComponent(pathname));
  if (protocol !== "file:" || !found) return "RUN";
  const drive = /^\/[A-Za-z]:/u.test(found[1]);
  const folder = drive ? found[1].slice(1).replaceAll("/", "\\") : found[1] || "/";
  if (/^[\w./:\\-]+$/u.test(folder)) return folder;
  return drive ? `"${folder}"` : `'${folder.replaceAll("'", `'\\''`)}'`;
}

/** @typedef {{ id: string, title: string, text: string, about: string[] }} ListedDocument */

/**
 * Ask for some of all documents of a group, where the page has a sample.
 * @param {number[]} strata that the group is made of @param {number} start
 * @returns {Promise<{ n: number, documents: ListedDocument[], message: string }>} with why there are none
 */
export async function askDocuments(strata, start) {
  const nothing = { n: 0, documents: [] };
  try {
    const answer = await fetch(`documents?strata=${strata.join(",")}&start=${start}`);
    const found = await answer.json();
    return answer.ok ? { ...found, message: "" } : { ...nothing, message: found.message };
  } catch {
    return { ...nothing, message: GONE };
  }
}

const AT_ONCE = 50;

/**
 * Ask for whole texts; those that are known, by id.
 * @param {string[]} ids @returns {Promise<Map<string, string>>}
 */
export async function askTexts(ids) {
  /** @type {Map<string, string>} */
  const found = new Map();
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    const asked = ids.slice(start, start + AT_ONCE).map((id) => `id=${encodeURIComponent(id)}`);
    const answer = await fetch(`texts?${asked.join("&")}`).catch(() => null);
    if (!answer?.ok) return found;
    for (const [id, text] of Object.entries((await answer.json()).texts)) found.set(id, text);
  }
  return found;
}

/** @param {string} what @param {RequestInit} how @returns {Promise<Progress>} */
async function ask(what, how = {}) {
  const answer = await fetch(what, how);
  const found = await answer.json();
  return answer.ok ? found : { state: "refused", what: "", share: 0, message: found.message };
}

/**
 * Send edits, and tell how far they are until they are done or refused.
 * @param {unknown} record @param {(progress: Progress) => void} tell @returns {Promise<Progress>}
 */
export async function applyEdits(record, tell) {
  try {
    const body = JSON.stringify(record);
    const headers = { "Content-Type": "application/json" };
    const begun = await ask("edits", { method: "POST", headers, body });
    return begun.state === "refused" ? begun : await untilDone(tell);
  } catch {
    return { state: "refused", what: "", share: 0, message: GONE };
  }
}

/** Tell how far edits are that are being made. @param {(progress: Progress) => void} tell */
async function untilDone(tell) {
  for (;;) {
    const progress = await ask("progress");
    if (progress.state !== "working") return progress;
    tell(progress);
    await new Promise((resolve) => setTimeout(resolve, EVERY));
  }
}
