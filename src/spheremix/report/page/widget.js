// The page as a widget of a notebook, for anywidget: a frame that is cut off from the notebook, and
// says what is chosen in it.

const HEIGHT = "820px"; // as in report.py

/** @typedef {{ group: number | null, documents: string[] }} Chosen */
/**
 * @typedef {object} Model
 * @property {(name: string) => string} get
 * @property {<T extends keyof Chosen>(name: T, value: Chosen[T]) => void} set
 * @property {() => void} save_changes
 */

/** @param {{ model: Model, el: HTMLElement }} place */
function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.name = "spheremix-widget"; // as app/notebook.js knows it
  frame.title = model.get("title");
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  Object.assign(frame.style, { width: "100%", height: HEIGHT, border: "1px solid #ccc" });
  // A whole page with its policy, in a frame that cannot reach the notebook.
  // eslint-disable-next-line no-restricted-properties
  frame.srcdoc = model.get("page");
  /** @param {MessageEvent<Chosen>} told */
  const listen = ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    model.set("group", data.group);
    model.set("documents", data.documents);
    model.save_changes();
  };
  addEventListener("message", listen);
  el.append(frame);
  return () => removeEventListener("message", listen);
}

export default { render };
