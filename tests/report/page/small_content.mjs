// The content of a small report, as content.js gives it, from plain prototypes.

const LEVELS = 127;

// One step; rows of `prototypes` are groups.
export function smallContent(prototypes, { weights, kappas, masses, documents = 0, ...rest } = {}) {
  const K = prototypes.length;
  const W = prototypes[0].length;
  const flat = prototypes.flat();
  const scale = Math.max(...flat.map(Math.abs));
  const levels = flat.map((v) => Math.sign(v) * Math.ceil(LEVELS * Math.sqrt(Math.abs(v) / scale)));
  const counts = Array.from({ length: W }, (_, j) => prototypes.filter((row) => row[j]).length);
  const entry = {
    step: 0,
    beta: 1,
    sparsity: 0.5,
    n_nonzero: flat.filter(Boolean).length,
    log_likelihood: -10,
    criteria: { bic: 12 },
    weights: weights ?? new Array(K).fill(1 / K),
    kappas: kappas ?? new Array(K).fill(10),
    masses: masses ?? new Array(K).fill(1 / K),
    sizes: new Array(K).fill(2),
    chosen_by: ["bic"],
    scale,
    n_words: prototypes.map((row) => row.filter(Boolean).length),
    n_only_here_words: prototypes.map((row) => row.filter((v, j) => v && counts[j] === 1).length),
    n_words_by_groups: Array.from(
      { length: K + 1 },
      (_, m) => counts.filter((count) => count === m).length,
    ),
  };
  return {
    model: { n_groups: K, n_words: W, n_words_shown: W },
    kind: "words",
    words: Array.from({ length: W }, (_, j) => `word${j}`),
    names: Array.from({ length: K }, (_, k) => `group ${k}`),
    steps: [entry],
    chosen: 0,
    values: Int8Array.from(levels),
    prototypes: Float32Array.from(flat),
    only_here: null,
    only_here_share: 0.05,
    exit_betas: null,
    labels: documents ? new Uint8Array(documents) : null,
    ...rest,
  };
}

// Numbers that look random and are always the same.
export function drawer(seed) {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

// Four leaves: groups 0 and 1 are leaves themselves, group 2 has two of them.
export function smallTree() {
  return {
    leaves: 4,
    chosen: 3,
    parents: [5, 5, 4, 4, 6, 6, -1],
    heights: [0, 0, 0, 0, 1, 2, 3],
    sizes: [2, 1, 1, 2, 3, 3, 6],
    names: Array.from({ length: 7 }, (_, node) => `node ${node}`),
    words: Array.from({ length: 7 }, (_, node) => [`word of ${node}`]),
    sibling_words: Array.from({ length: 7 }, () => []),
    levels: [],
    only: Array.from({ length: 7 }, () => []),
    groups: [0, 1, 2, 2, 2, -1, -1],
    is_chosen: [true, true, false, false, true, false, false],
  };
}
