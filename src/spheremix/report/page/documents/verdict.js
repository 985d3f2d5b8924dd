// Where a document is and how surely, in words; the numbers are one click away.

import {
  borderlineBy,
  certaintyOf,
  CLEAR,
  UNSTABLE,
  STABLE,
  ofSamples,
  onlyOf,
  sureOf,
  timesOf,
} from "../groups/certainty.js";
import { chooseGroup, chosenId, isNowhere, NOWHERE } from "../groups/grouping.js";
import { bdi, make, present, textButton } from "../lib/dom.js";
import { decimal, integer, oddsText, percent, posteriorText } from "../lib/format.js";

/** @import { App, Content, Documents, Step } from "../types.d.ts" */

/** @param {App} app @param {number} group */
function link({ content, state, groupsAt }, group) {
  const show = () => {
    state.set({ cut: 0 });
    const groups = groupsAt(state.now);
    chooseGroup(state, groups, groups.holderOf(group), { document: state.now.document });
  };
  return textButton(bdi(content.names[group] ?? NOWHERE), show, { title: "Show this group" });
}

// Return a line where the document is of another group than the chosen one. Where all groups are
// listed, its group is told only where the verdict is about other groups.
/** @param {App} app @param {number} i */
export function elsewhere(app, i) {
  const { state, groups } = app;
  const own = groups().labels[i];
  const all = state.now.scope === "all";
  if (own === chosenId(state.now) || (all && groups().exact)) return null;
  const group = groups().byId.get(own);
  const chosen = groups().byId.get(chosenId(state.now));
  const show = () => chooseGroup(state, groups(), own, { document: i });
  const nowhere = groups().nowhere?.id;
  const other = textButton(bdi(group?.name() ?? "another one"), show);
  const about = { class: "edited elsewhere" };
  if (all && own === nowhere) return null;
  if (all || chosenId(state.now) === nowhere)
    return make("p", about, "This document is in ", other, ".");
  const outside = ["This document is not in the chosen group (", bdi(chosen?.name() ?? ""), ")"];
  if (own === nowhere) return make("p", about, ...outside, ": it belongs nowhere.");
  return make("p", about, ...outside, " but in ", other, ".");
}

/**
 * @param {App} app @param {Documents} documents @param {Step} step @param {number} i
 * @param {number} k
 */
export function verdict(app, documents, step, i, k) {
  const own = documents.group[i];
  const lines = [];
  if (own !== k)
    lines.push(
      make(
        "p",
        {},
        "With this number of words: ",
        link(app, k),
        "; with the chosen one: ",
        link(app, own),
        ".",
      ),
    );
  const why = whyText(app.content, documents, i);
  const unsure = sureOf(app.content, documents, i) === "borderline";
  lines.push(
    sentence(app, documents, step, i),
    unsure && why ? make("p", { class: "why-sure", text: why }) : null,
    fewWords(app.content, i),
    numbers(app, documents, step, i, unsure ? "" : why),
  );
  return make("div", {}, ...present(lines));
}

/** @param {App} app @param {Documents} documents @param {Step} step @param {number} i */
function sentence(app, documents, step, i) {
  const own = documents.group[i];
  const sure = certaintyOf(app.content, documents, i);
  const line = make("p", { class: "verdict" });
  if (!app.groups().exact)
    line.append(`Of the ${app.content.model.n_groups} groups of the model: `);
  else if (!step.exact) line.append("With the chosen number of words: ");
  if (isNowhere(app.content, documents, i)) {
    line.append(make("strong", { text: "Belongs nowhere" }), ": it fits no group. The nearest is ");
    line.append(link(app, documents.second_group ? documents.second_group[i] : 0), ".");
  } else if (!documents.second_group) line.append("In ", link(app, own), ".");
  else if (sure === "borderline")
    line.append(
      make("strong", { text: "Borderline" }),
      ": in ",
      link(app, own),
      ", but it may as well be in ",
      link(app, documents.second_group[i]),
      ". Do not rely on its group.",
    );
  else
    line.append(
      make("strong", { text: sure === "clearly" ? "Clearly" : "Probably" }),
      " in ",
      link(app, own),
      "; the second group is ",
      link(app, documents.second_group[i]),
      ".",
    );
  return line;
}

/**
 * Return why it is called borderline, probable or clear, in the measure that decided that.
 * @param {Pick<Content, "stability" | "model" | "names">} content
 * @param {Pick<Documents, "log_odds" | "second_group" | "group">} documents @param {number} i
 */
export function whyText(content, documents, i) {
  const { stability, names } = content;
  const next = documents.second_group?.[i];
  if (next === undefined || isNowhere(content, documents, i)) return "";
  const { odds, samples } = borderlineBy(content, documents, i);
  const said = [];
  if (odds)
    said.push(`In this fit “${names[next]}” suits it nearly as well: the odds are ${odds}.`);
  const measured = stability?.documents?.[i];
  if (!stability || measured === undefined) return said.join(" ");
  const n = stability.n_replicates;
  const sure = samples && !odds;
  const clearly = documents.log_odds[i] < CLEAR ? "probably" : "clearly";
  if (sure) said.push(`In this fit the document ${clearly} belongs here.`);
  said.push(
    `${sure ? "But in" : "In"} ${samples ? onlyOf(measured, n) : timesOf(measured, n)} redrawn ` +
      "samples its group came back with this document in it.",
  );
  const { all, unstable } = unstableOf(stability.documents, documents, documents.group[i]);
  if (samples && unstable > all / 2)
    said.push(
      "Most documents of this group were seldom in it " +
        `(${integer(unstable)} of ${integer(all)} in fewer than half of the samples): the group itself ` +
        "is in doubt.",
    );
  return said.join(" ");
}

/**
 * Return how many documents of a group are in it in fewer than half of the samples.
 * @param {ArrayLike<number>} stability @param {Pick<Documents, "group">} documents @param {number} k
 */
function unstableOf(stability, { group }, k) {
  let all = 0;
  let unstable = 0;
  for (let i = 0; i < group.length; i++) {
    if (group[i] !== k) continue;
    all++;
    if (stability[i] < UNSTABLE) unstable++;
  }
  return { all, unstable };
}

// The terminal warns of the same documents.
const FEW = 5;

/** @param {Pick<Content, "rows" | "meaning">} content @param {number} i */
function fewWords({ rows, meaning }, i) {
  const n = rows?.n_words[i] ?? FEW;
  if (n >= FEW || meaning) return null;
  return make("p", {
    class: "warning",
    text: `! It has only ${n} different word${n === 1 ? "" : "s"} that the model knows: do not rely on its group.`,
  });
}

/**
 * @param {App} app @param {Documents} documents @param {Step} step @param {number} i
 * @param {string} why in a sentence, where that is not told above
 */
function numbers({ content }, documents, step, i, why) {
  const lines = [...(why ? [why] : []), ...numberLines(content, documents, i)];
  if (!step.exact) lines.push("All of this with the chosen number of words.");
  return make(
    "details",
    { class: "numbers" },
    make("summary", { text: "how sure" }),
    make("ul", { class: "soft" }, ...lines.map((text) => make("li", { text }))),
  );
}

// Return two measures of how sure it is, what each of them is about, and what decides.
/** @param {Content} content @param {Documents} documents @param {number} i */
export function numberLines(content, documents, i) {
  const { stability } = content;
  const odds = documents.log_odds[i];
  const measured = stability?.documents?.[i];
  const n = stability?.n_replicates ?? 0;
  const { group } = documents;
  const lost = isNowhere(content, documents, i);
  const cosine = documents.cosine[i].toFixed(3);
  const where = lost ? "belongs nowhere" : "is in its group";
  const decides = lost
    ? ""
    : ` Fewer than ${Math.ceil(UNSTABLE * n)}: borderline. ${Math.ceil(STABLE * n)} or more: clearly here.`;
  const again =
    measured === undefined
      ? null
      : `Stability: it ${where} in ${ofSamples(measured, n)}.${decides}`;
  if (lost) return present([again, `Likeness: cosine ${cosine} with the nearest prototype.`]);
  const several = documents.second_group !== null;
  const rule = stability
    ? "They do not decide: one fit takes its groups for granted, so its odds are large even for " +
      "documents that other samples put elsewhere."
    : "Below 9 to 1: borderline. 99 to 1 or more: clearly here.";
  return present([
    again,
    several
      ? `This fit alone: odds of ${oddsText(odds)} against the second group, ` +
        `${beside(documents.log_odds, i, () => true)} documents. ${rule}`
      : null,
    several
      ? `The same in other terms: log-odds ${decimal(odds)}, posterior ` +
        `${posteriorText(documents.posterior[i])}, margin ${documents.margin[i].toFixed(3)}.`
      : null,
    `Likeness: cosine ${cosine} with the prototype, ` +
      `${beside(documents.cosine, i, (other) => group[other] === group[i])} documents of its group.`,
  ]);
}

/**
 * Return a value beside those of other documents: "smaller than those of nearly all other".
 * @param {ArrayLike<number>} values @param {number} i @param {(other: number) => boolean} counts
 */
export function beside(values, i, counts) {
  let all = 0;
  let below = 0;
  let above = 0;
  for (let other = 0; other < values.length; other++) {
    if (other === i || !counts(other)) continue;
    all++;
    if (values[other] < values[i]) below++;
    else if (values[other] > values[i]) above++;
  }
  if (!all) return "with no other";
  const [word, n] = above > below ? ["smaller", above] : ["larger", below];
  if (!n) return "the same as those of all other";
  if (n === all) return `${word} than those of all other`;
  if (n > 0.99 * all) return `${word} than those of nearly all other`;
  return `${word} than those of ${percent(n / all)} of the other`;
}
