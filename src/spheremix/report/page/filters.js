// Which documents are listed, and in which order.

// Lower-case texts, made once, when something is searched for.
export function createSearch(documents) {
  let lowered = null;
  return (text) => {
    const wanted = text.toLowerCase();
    lowered =
      lowered ||
      documents.id.map((id, i) =>
        `${id}\n${documents.text ? documents.text[i] : ""}`.toLowerCase(),
      );
    return (i) => lowered[i].includes(wanted);
  };
}

// Long texts are shortened in the report.
export function isCut({ text, length }, i) {
  return Boolean(text && length && length[i] > text[i].length);
}

export function anyCut(documents) {
  return documents.id.some((_, i) => isCut(documents, i));
}

export function listDocuments(documents, step, now, search) {
  const tests = [];
  const own = (i) => step.labels[i] === now.cluster;
  if (now.scope === "cluster") tests.push(own);
  if (now.rival >= 0) tests.push((i) => isBetween(documents, step, i, now));
  if (now.label >= 0) tests.push((i) => (documents.labels[i] || []).includes(now.label));
  if (now.from) tests.push((i) => documents.date[i] !== null && documents.date[i] >= now.from);
  // A day stands for all of itself, whatever time follows it.
  if (now.to)
    tests.push(
      (i) => documents.date[i] !== null && documents.date[i].slice(0, now.to.length) <= now.to,
    );
  if (now.text) tests.push(search(now.text));
  const found = [];
  for (let i = 0; i < step.labels.length; i++) {
    if (tests.every((test) => test(i))) found.push(i);
  }
  return sortDocuments(documents, found, now.sort);
}

// One of the two most probable clusters; with all clusters listed, either of them.
function isBetween(documents, step, i, now) {
  const other = documents.cluster[i] === now.rival ? documents.runner_up[i] : documents.cluster[i];
  const near = documents.cluster[i] === now.rival || documents.runner_up[i] === now.rival;
  return near && (now.scope === "all" || other === now.cluster);
}

function sortDocuments(documents, found, sort) {
  const { cosine, log_odds: odds } = documents;
  if (sort === "typical") return found.sort((a, b) => cosine[b] - cosine[a] || a - b);
  if (sort === "ambiguous")
    return found.sort((a, b) => (odds[a] === odds[b] ? a - b : odds[a] - odds[b]));
  return found;
}
