// A question in a dialog: a text or a choice.

import { find, make } from "./dom.js";

/** @typedef {{ text: string, long?: boolean } | { begin: string, choices: [string, string][] }} Field */

/**
 * @param {string} title @param {string} about @param {Field} field
 * @param {(value: string) => void} onAnswer
 */
export function ask(title, about, field, onAnswer) {
  const dialog = find("ask");
  const form = find("ask-form");
  find("ask-title").textContent = title;
  const input = inputOf(field, title);
  const cancel = make("button", { type: "button", text: "cancel" });
  cancel.addEventListener("click", () => dialog.close());
  const ok = make("button", { type: "submit", text: "ok" });
  form.replaceChildren(
    make("p", { class: "soft", text: about }),
    input,
    make("div", { class: "buttons" }, ok, cancel),
  );
  // Nothing is chosen at first, so that a quick ok does no harm.
  if ("choices" in field) {
    ok.disabled = true;
    input.addEventListener("change", () => (ok.disabled = input.value === ""));
  }
  form.onsubmit = (event) => {
    event.preventDefault();
    dialog.close();
    onAnswer(input.value.trim());
  };
  dialog.showModal();
  input.focus();
  if ("text" in field && !field.long && "select" in input) input.select();
}

/** @param {Field} field @param {string} label */
function inputOf(field, label) {
  if ("choices" in field)
    return make(
      "select",
      { "aria-label": label },
      make("option", { value: "", text: field.begin }),
      ...field.choices.map(([value, text]) => make("option", { value, text })),
    );
  if (field.long) {
    const area = make("textarea", { rows: 4, "aria-label": label });
    area.value = field.text;
    return area;
  }
  const line = make("input", { type: "text", "aria-label": label, autocomplete: "off" });
  line.value = field.text;
  return line;
}
