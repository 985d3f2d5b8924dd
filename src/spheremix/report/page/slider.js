// The path: a slider over its steps, the criteria's choices marked, and curves above it.

import { find, make } from "./dom.js";
import { capital, counted, criterionName, decimal, integer, nounOf, percent } from "./format.js";
import { drawCurves, strokeSample } from "./curves.js";

/** @import { App, Content, Curve, State, Step, StepEntry } from "./types.d.ts" */

const HEIGHT = 56;

/** @param {App} app */
export function mountSlider({ content, state, stepOf }) {
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
    const each = Math.round(entry.n_nonzero / content.model.n_clusters);
    const told = `${counted(each, noun)} a group`;
    range.setAttribute("aria-valuetext", told);
    find("beta-now").textContent = `${integer(each)} per group`;
    find("beta-now").title = `${told} on average, of ${integer(content.model.n_words)}`;
    find("cursor").style.left = position(state.now.step, last);
    find("told").replaceChildren(...telling(content, stepOf(state.now.step)));
  });
}

// The thumb of a range is 16 pixels wide and stays within it.
/** @param {number} step @param {number} last */
function position(step, last) {
  const share = last ? step / last : 0;
  return `calc(8px + (100% - 16px) * ${share.toFixed(5)})`;
}

/** @param {Content} content @param {Step} step */
function telling(content, step) {
  const { entry } = step;
  const [idle, own] = entry.n_words_by_clusters;
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

// From a beta of the whole path to the share of the slider's width.
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

// Names of criteria at the steps they choose, in as many lines as it takes.
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
