// Where a document is and how surely, in words; the numbers are one click away.

import { bdi, make, present } from "./dom.js";
import { decimal, oddsText, percent, posteriorText } from "./format.js";
import { certaintyOf, ofSamples } from "./certainty.js";
import { chooseGroup, chosenId } from "./grouping.js";
import { isNowhere, NOWHERE } from "./nowhere.js";

/** @import { App, Content, Documents, Step } from "./types.d.ts" */

/** @param {App} app @param {number} cluster */
function link({ content, state, groupsAt }, cluster) {
  const show = () => {
    state.set({ cut: 0 });
    chooseGroup(state, groupsAt(state.now), cluster, { document: state.now.document });
  };
  return make(
    "button",
    { type: "button", class: "plain", title: "Show this group", on: { click: show } },
    bdi(content.names[cluster] ?? NOWHERE),
  );
}

// The document may be of another group than the chosen one, as when all documents are listed.
/** @param {App} app @param {number} i */
export function elsewhere(app, i) {
  const { state, groups } = app;
  const own = groups().labels[i];
  if (own === chosenId(state.now)) return null;
  const group = groups().byId.get(own);
  const chosen = groups().byId.get(chosenId(state.now));
  const show = () => chooseGroup(state, groups(), own, { document: i });
  const nowhere = groups().nowhere?.id;
  const other = make(
    "button",
    { type: "button", class: "plain", on: { click: show } },
    bdi(group?.name() ?? "another one"),
  );
  const about = { class: "edited elsewhere" };
  if (chosenId(state.now) === nowhere) return make("p", about, "This document is in ", other, ".");
  const outside = ["This document is not in the chosen group (", bdi(chosen?.name() ?? ""), ")"];
  if (own === nowhere) return make("p", about, ...outside, ": it belongs nowhere.");
  return make("p", about, ...outside, " but in ", other, ".");
}

/**
 * @param {App} app @param {Documents} documents @param {Step} step @param {number} i
 * @param {number} k
 */
export function verdict(app, documents, step, i, k) {
  const own = documents.cluster[i];
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
  lines.push(sentence(app, documents, i, own), numbers(app, documents, step, i));
  return make("div", {}, ...lines);
}

/** @param {App} app @param {Documents} documents @param {number} i @param {number} own */
function sentence(app, documents, i, own) {
  const sure = certaintyOf(app.content, documents, i);
  const line = make("p", { class: "verdict" });
  if (!app.groups().exact)
    line.append(`Of the ${app.content.model.n_clusters} groups of the model: `);
  if (isNowhere(app.content, documents, i)) {
    line.append(make("strong", { text: "Belongs nowhere" }), ": it fits no group. The nearest is ");
    line.append(link(app, documents.runner_up ? documents.runner_up[i] : 0), ".");
  } else if (!documents.runner_up) line.append("In ", link(app, own), ".");
  else if (sure === "borderline")
    line.append(
      make("strong", { text: "Borderline" }),
      ": in ",
      link(app, own),
      ", but almost in ",
      link(app, documents.runner_up[i]),
      ".",
    );
  else
    line.append(
      make("strong", { text: sure === "clearly" ? "Clearly" : "Probably" }),
      " in ",
      link(app, own),
      "; next best is ",
      link(app, documents.runner_up[i]),
      ".",
    );
  return line;
}

/** @param {App} app @param {Documents} documents @param {Step} step @param {number} i */
function numbers({ content }, documents, step, i) {
  const odds = documents.log_odds[i];
  const firm = content.firmness?.documents?.[i];
  const samples = content.firmness?.n_replicates ?? 0;
  const several = documents.runner_up !== null;
  const lost = isNowhere(content, documents, i);
  const stays = lost ? "belongs nowhere again" : "stays with its group";
  const told = present([
    firm === undefined ? null : `${stays} in ${ofSamples(firm, samples)}`,
    ...(lost
      ? [`cosine ${documents.cosine[i].toFixed(3)} with the nearest prototype`]
      : [
          several ? `log-odds against the next best ${decimal(odds)}: ${oddsText(odds)}` : null,
          several ? placing(content, documents, i) : null,
          `posterior ${posteriorText(documents.posterior[i])}`,
          several ? `margin ${documents.margin[i].toFixed(3)}` : null,
          `cosine ${documents.cosine[i].toFixed(3)}, ` +
            `nearer to the prototype than ${percent(nearerThan(documents, i))} of its group`,
        ]),
  ]);
  return make(
    "details",
    { class: "numbers" },
    make("summary", { text: "numbers" }),
    make("p", {
      class: "soft",
      text: told.join(" · ") + (step.exact ? "" : " (with the chosen number of words)"),
    }),
  );
}

// How sure that is among all documents: odds of long ones are huge, and say little by themselves.
/**
 * @param {Pick<Content, "firmness">} content @param {Pick<Documents, "log_odds">} documents
 * @param {number} i
 */
export function placing(content, documents, i) {
  const odds = documents.log_odds;
  const part = odds.filter((other) => other < odds[i]).length / odds.length;
  if (part < 0.1 && certaintyOf(content, documents, i) === "clearly") {
    const surer = odds.filter((other) => other > odds[i]).length / Math.max(1, odds.length - 1);
    return `clearly here, though less so than ${percent(surer)} of the others`;
  }
  if (part < 0.1) return `among the ${Math.max(1, Math.ceil(100 * part))} % hardest to place`;
  return `easier to place than ${percent(part)} of all documents`;
}

/** @param {Pick<Documents, "cluster" | "cosine">} documents @param {number} i */
function nearerThan({ cluster, cosine }, i) {
  let all = 0;
  let behind = 0;
  for (let other = 0; other < cosine.length; other++) {
    if (cluster[other] !== cluster[i] || other === i) continue;
    all++;
    if (cosine[other] < cosine[i]) behind++;
  }
  return all ? behind / all : 1;
}
