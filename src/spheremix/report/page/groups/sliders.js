// The two sliders at the top: how many groups, along the tree, and how many words, along the path.

import { find, make } from "../lib/dom.js";
import { drawCurves, strokeSample } from "../lib/drawing.js";
import {
  capital,
  counted,
  criterionName,
  decimal,
  integer,
  nounOf,
  percent,
} from "../lib/format.js";
import { shownWords } from "../words/shown.js";
import { chosenId, nearestGroup } from "./grouping.js";

/** @import { App, Content, Curve, ShownWords, State, StepEntry } from "../types.d.ts" */

// Show so many groups: along the tree where it has them, else as another candidate.
/** @param {App} app @param {number} m */
export function openCut(app, m) {
  const { content, state } = app;
  const { tree, candidates } = content;
  if (m === homeOf(app)) setCut(app, 0);
  else if (tree && m >= 2 && m <= tree.leaves) setCut(app, m);
  else
    state.set({
      tab: "candidates",
      candidate: candidates.findIndex((one) => one.n_groups === m),
    });
}

// Return the number of groups of the run, as edits have it.
/** @param {App} app */
function homeOf({ content, edits }) {
  return edits.plan().cut || content.model.n_groups;
}

// Show so many groups. The chosen one becomes that with most of its documents; a merged group has
// no path: the slider of words goes back to its chosen place.
/** @param {App} app @param {number} cut */
export function setCut(app, cut) {
  const { content, state } = app;
  if (cut === state.now.cut) return;
  const step = cut ? content.chosen : state.now.step;
  const id = nearestGroup(app.groups(), chosenId(state.now), app.groupsAt({ cut, step }));
  state.set({ cut, step, [cut ? "node" : "group"]: id, compared: -1 });
}

/** @param {App} app */
export function mountGroupSlider(app) {
  const { content, state } = app;
  const { tree } = content;
  if (!tree || tree.leaves < 3 || !content.documents?.leaf) return;
  const range = find("cut");
  find("cut-slider").hidden = false;
  range.max = String(tree.leaves);
  find("cut-most").textContent = String(tree.leaves);
  range.title = "How many groups, merged along the tree";
  range.addEventListener("input", () => {
    const m = Number(range.value);
    setCut(app, m === homeOf(app) ? 0 : m);
  });
  state.follow(["cut", "edited"], () => {
    const shown = app.groups().groups.length;
    range.value = String(state.now.cut || homeOf(app));
    range.setAttribute("aria-valuetext", counted(shown, "group"));
    find("cut-now").textContent = String(shown);
  });
}

/** @param {App} app @param {number} by */
export function moveCut(app, by) {
  const { tree, documents } = app.content;
  const m = (app.state.now.cut || homeOf(app)) + by;
  if (tree && documents?.leaf && m >= 2 && m <= tree.leaves) openCut(app, m);
}

// The path: a slider over its steps, the criteria's choices marked, and curves above it.

const HEIGHT = 56;

/** @param {App} app */
export function mountSlider(app) {
  const { content, state } = app;
  const { steps } = content;
  const range = find("beta");
  const last = steps.length - 1;
  const noun = nounOf(content);
  range.max = String(last);
  // Merged groups have no path: whoever moves this slider is back at the groups of the model.
  range.addEventListener("input", () => state.set({ step: Number(range.value), cut: 0 }));
  if (last === 0) {
    find("path").hidden = true;
    find("word-slider").hidden = true;
  } else {
    find("beta-label").textContent = `${capital(noun)}s`;
    range.title = `How many ${noun}s each group keeps: the penalty β`;
    range.setAttribute(
      "aria-label",
      `${capital(noun)}s of the groups: further right, more of them`,
    );
    const curves = pathCurves(content);
    const label = "Sparsity and criteria along the path";
    find("curves").replaceChildren(drawCurves(curves, curves[0].xs, 1000, HEIGHT, label));
    find("legend").replaceChildren(...legend(curves));
    find("ends").replaceChildren(
      make("span", { text: `β = ${decimal(steps[0].beta)}, all ${noun}s` }),
      make("span", { text: "β, the penalty, grows" }),
      make("span", { text: `β = ${decimal(steps[last].beta)}, fewest ${noun}s` }),
    );
    mountMarks(content, state);
  }
  state.follow(["step"], () => {
    const entry = steps[state.now.step];
    range.value = String(state.now.step);
    const each = Math.round(entry.n_nonzero / content.model.n_groups);
    const told = `${counted(each, noun)} a group`;
    range.setAttribute("aria-valuetext", told);
    find("beta-now").textContent = `${integer(each)} per group`;
    find("beta-now").title = `${told} on average, of ${integer(content.model.n_words)}`;
    find("cursor").style.left = position(state.now.step, last);
  });
  state.follow(["step", "cut", "edited"], () => {
    find("told").replaceChildren(...telling(shownWords(app)));
  });
}

// Return the place of the thumb of a range, which is 16 pixels wide and within it.
/** @param {number} step @param {number} last */
function position(step, last) {
  const share = last ? step / last : 0;
  return `calc(8px + (100% - 16px) * ${share.toFixed(5)})`;
}

/** @param {ShownWords} shown */
function telling({ content, step: { entry } }) {
  const [idle, own] = entry.n_words_by_groups;
  const words = counted(content.model.n_words - idle, nounOf(content));
  return [
    `${words} left, ${integer(own)} of them in one group only · `,
    make("strong", { text: `β = ${decimal(entry.beta)}` }),
    `, sparsity ${percent(entry.sparsity)}` +
      (entry.chosen_by.length
        ? `, chosen by ${entry.chosen_by.map(criterionName).join(", ")}`
        : ""),
  ];
}

// Return the share of the slider's width at a beta of the whole path.
/** @param {StepEntry[]} steps @param {number} beta */
function shareOf(steps, beta) {
  let i = 1;
  while (i < steps.length - 1 && steps[i].beta < beta) i++;
  const [from, to] = [steps[i - 1].beta, steps[i].beta];
  const within = to > from ? Math.min(1, Math.max(0, (beta - from) / (to - from))) : 0;
  return (i - 1 + within) / (steps.length - 1);
}

/** @param {Content} content */
function pathCurves({ path, steps }) {
  const thin = path || {
    beta: steps.map((step) => step.beta),
    sparsity: steps.map((step) => step.sparsity),
    criteria: {},
  };
  const xs = thin.beta.map((beta) => shareOf(steps, beta));
  const criteria = Object.entries(thin.criteria).map(([name, values]) => ({
    name,
    values,
    xs,
    cut: true,
  }));
  return [{ name: "sparsity", values: thin.sparsity, xs }, ...criteria];
}

/** @param {Curve[]} curves */
function legend(curves) {
  const items = curves.map(({ name }) =>
    make("span", {}, strokeSample(name), name === "sparsity" ? "sparsity" : criterionName(name)),
  );
  return [
    ...items,
    make("span", {
      class: "soft",
      text: "Each curve has its own scale; the lowest value of a criterion is best.",
    }),
  ];
}

// Put names of criteria at the steps they choose, in as many lines as it takes.
/** @param {Content} content @param {State} state */
function mountMarks(content, state) {
  const { steps } = content;
  const holder = find("choices");
  const chosen = steps.map((step, i) => ({ ...step, i })).filter((step) => step.chosen_by.length);
  const buttons = chosen.map(({ i, beta, chosen_by: criteria }) => {
    const text = criteria.map(criterionName).join(", ");
    const used = criteria.some((name) => name === content.model.criterion);
    const button = make("button", {
      type: "button",
      text,
      class: used ? "choice used" : "choice",
      title: `Go to the step with the lowest ${text}: β = ${decimal(beta)}`,
      on: { click: () => state.set({ step: i }) },
    });
    button.style.left = position(i, steps.length - 1);
    return button;
  });
  holder.replaceChildren(...buttons);
  const stack = () => stackMarks(holder, buttons);
  new ResizeObserver(stack).observe(holder);
}

/** @param {HTMLElement} holder @param {HTMLElement[]} buttons */
function stackMarks(holder, buttons) {
  /** @type {number[]} */
  const ends = [];
  for (const button of buttons) {
    const wide = button.offsetWidth;
    const centre = button.offsetLeft;
    const left = Math.max(0, Math.min(holder.clientWidth - wide, centre - wide / 2));
    button.style.setProperty("--shift", `${left - centre}px`);
    let line = ends.findIndex((end) => left > end + 4);
    if (line < 0) line = ends.length;
    ends[line] = left + wide;
    button.style.top = `${line * 20}px`;
  }
  holder.style.height = `${Math.max(1, ends.length) * 20}px`;
}
