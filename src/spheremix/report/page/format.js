// Numbers as people read them.

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 3 });

export function integer(value) {
  return whole.format(value);
}

export function decimal(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value !== 0 && Math.abs(value) < 1e-4) return value.toExponential(1).replace("-", "−");
  return (Math.abs(value) >= 1000 ? whole : short).format(value).replace("-", "−");
}

export function percent(share) {
  const value = 100 * share;
  const digits = value > 0 && value < 100 && (value < 1 || value > 99) ? 1 : 0;
  return `${value.toFixed(digits)} %`;
}

export function counted(number, noun, plural = `${noun}s`) {
  return `${integer(number)} ${number === 1 ? noun : plural}`;
}

// What columns are.
export function nounOf({ kind }) {
  return kind === "coordinates" ? "coordinate" : "word";
}

export function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

// Whether any step has a penalty: embeddings are usually left without one.
export function hasPenalty({ steps }) {
  return steps.some(({ beta }) => beta > 0);
}

// Where each cluster has every column, none is its own, and no share is worth telling.
export function isDense(content) {
  return content.kind === "coordinates" && !hasPenalty(content);
}

// A page shows only so many columns: how many of them; nothing where it shows all.
export function shownOfAll(content) {
  const { n_words: all, n_words_shown: shown } = content.model;
  return shown < all ? `${integer(shown)} of ${counted(all, nounOf(content))}` : "";
}

// Along a path, what is told holds at one place of it.
export function atThisBeta({ steps }) {
  return steps.length > 1 ? " at this β" : "";
}

export function signed(value) {
  return value > 0 ? `+${decimal(value)}` : decimal(value);
}

export function criterionName(name) {
  return name === "ricc" ? "RICc" : name.toUpperCase();
}

// Posteriors of long documents are 1 to the last digit: odds still say how sure that is.
export function oddsText(logOdds) {
  const odds = Math.exp(logOdds);
  if (odds >= 1e6) return "more than a million to 1";
  return `${odds < 10 ? odds.toFixed(1) : integer(Number(odds.toPrecision(2)))} to 1`;
}

function raised(number) {
  return [...String(number)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("");
}

export function posteriorText(posterior, logOdds) {
  if (posterior < 0.9995) return posterior.toFixed(3);
  return logOdds === Infinity ? "1" : `1 − 10⁻${raised(Math.floor(logOdds / Math.LN10))}`;
}
