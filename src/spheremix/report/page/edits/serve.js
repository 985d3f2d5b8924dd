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
