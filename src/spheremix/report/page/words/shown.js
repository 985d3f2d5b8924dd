// The groups whose words are shown: those that are looked at where the weights of their words are known, else
// those of the model.

/** @import { App, ShownWords } from "../types.d.ts" */

/** @param {Pick<App, "content" | "state" | "stepOf" | "groups">} app @returns {ShownWords} */
export function shownWords({ content, state, stepOf, groups }) {
  const grouping = groups();
  const { byId, holderOf, exact } = grouping;
  const profile = exact ? null : grouping.profile();
  if (profile) return { ...profile, known: true, groupOf: (k) => grouping.groups[k] };
  const groupOf = (/** @type {number} */ k) => byId.get(holderOf(k)) ?? grouping.groups[0];
  return { content, step: stepOf(state.now.step), known: exact, groupOf };
}
