// What the modules of the page pass to each other. Only the type check reads this file: it is not
// part of the page. The content is what docs/report.md describes, after content.js has read it.

export type Criteria = Record<string, number | null>; // null: not known
export type Levels = Int8Array;
export type Labels = Uint8Array | Uint16Array;
export type Numbers = Uint16Array | Uint32Array;

// The content

// What is said about the run; groups that the text names, each with the words that name it.
export interface Remark {
  text: string;
  warning: boolean;
  groups: [k: number, words: string][];
}

export interface EffectColumn {
  name: string;
  kind: "label" | "number" | "date";
  values: string[];
  n_documents: number[];
  sentences: string[];
  shares: (number | null)[][]; // by value, then by group; null: the group is not stable
  low: (number | null)[][];
  high: (number | null)[][];
}

export interface Effects {
  n_documents: number;
  n_draws: number;
  unstable: number[]; // groups
  columns: EffectColumn[];
}

export interface Content {
  title: string;
  run: string | null; // the id for which edits are exported; null: no run that can be edited
  edits: EditsMade | null; // null: nobody edited the run
  corpus: Corpus;
  model: Model;
  candidates: Candidate[];
  advice: Advice | null;
  effects: Effects | null; // null: none were asked for
  remarks: Remark[];
  tree: Tree | null;
  stability: Stability | null;
  kind: "words" | "coordinates";
  words: string[];
  names: string[];
  given_names?: number[]; // the groups whose names people gave
  steps: StepEntry[];
  path: Path | null;
  chosen: number;
  values: Levels; // steps x groups x words
  only_here: Uint8Array | null; // steps x words; null: not known
  only_here_share: number; // of a group's documents: from there on, such a word is listed
  prototypes: Float32Array; // groups x words, of the chosen step
  exit_betas: Float32Array | null; // groups x words
  labels: Labels | null; // steps x documents
  documents: Documents | null;
  layout: MapLayout | null;
  rows: Rows | null;
  meaning: Meaning | null; // null: words alone, or embeddings alone
  forms: Map<string, number> | null;
  contrast: [string, number][][] | null;
}

export interface Advice {
  recommended: { n_groups: number; level: string; sentence: string }[];
  certainty: string;
  doubts: string[];
  evidence: Record<string, (number | null)[]>;
}

// Nodes are numbered: the leaves first, then the merges.
export interface Tree {
  leaves: number;
  chosen: number;
  parents: number[]; // -1: the root
  heights: number[];
  sizes: number[];
  names: string[];
  words: string[][];
  only: string[][];
  sibling_words: string[][]; // against the other part of the parent
  levels: [number, number[]][]; // broader numbers of groups, and the node that each group lies in
  groups: number[]; // the group of the model that a node lies in; -1: it holds several
  is_chosen: boolean[]; // whether a node is a group of the model
}

// How often documents, groups and words stay when documents are drawn again; of the chosen step.
export interface Stability {
  documents: Float32Array;
  groups: number[];
  words: { ends: Uint32Array; places: Uint32Array; shares: Float32Array };
  n_replicates: number;
}

// What people did to the run. Groups are keys as texts, documents are known by their ids.
export interface EditsMade {
  n_edits: number;
  colours: [number, number][] | null; // kept from the run before an update; by group
  changes: string[]; // by the last edits, in sentences
  notes: { groups: Record<string, string>; documents: Record<string, string> };
  misplaced: string[];
  dropped_words: string[];
}

export interface Corpus {
  source: string;
  format: string;
  n_documents: number;
  n_kept: number;
  n_set_aside: number;
  set_aside: [string, string][];
  notes: string[];
  done: [string, string][];
  n_words_dropped: number;
  sampled: string | null; // what a page with a sample shows, in a sentence
}

export interface Model {
  n_groups: number; // K; a document whose group is K belongs nowhere
  has_nowhere: boolean; // whether documents may belong nowhere
  n_words: number; // of the model
  n_words_shown: number; // of the page
  beta: number;
  sparsity: number;
  kappa: number | string;
  k_criterion: string | null;
  criterion: string | null;
  relaxed: boolean; // prototypes were fitted again without penalty, their zeros kept
  seed: number | null;
  status: string;
  log_likelihood: number;
  agreement: { column: string; ari: number; nmi: number }[];
}

export interface Candidate {
  n_groups: number;
  chosen: boolean;
  n_converged: number;
  n_starts: number;
  agreement: number | null;
  log_likelihood: number;
  n_nonzero: number;
  criteria: Criteria;
  groups: { size: number | null; weight: number; words: string[] }[];
}

export interface StepEntry {
  step: number;
  beta: number;
  sparsity: number;
  n_nonzero: number;
  log_likelihood: number;
  criteria: Criteria;
  weights: number[];
  kappas: number[];
  masses: number[]; // expected length of the sum of the rows of each group, for one row in all
  sizes: number[];
  chosen_by: string[];
  scale: number;
  n_words: number[]; // of each group, whether the page shows them or not
  n_only_here_words: number[];
  n_words_by_groups: number[]; // of no group, of one, ..., of all
}

export interface Path {
  beta: number[];
  sparsity: (number | null)[];
  criteria: Record<string, (number | null)[]>;
}

// Where rows are passages: the document of each, and which part of its words it has. Documents are those
// with a passage that has a group, with their shares of the groups of the model; a row sums to about 10,000.
export interface Passages {
  document: Uint32Array;
  weight: Float32Array;
  n_documents: number; // all
  n_grouped: number;
  shares: Uint16Array;
  labels: number[][] | null;
  date: (string | null)[] | null;
}

export interface Documents {
  id: string[];
  title: string[] | null; // empty: none
  text: string[] | null;
  length: number[] | null; // of the whole texts
  date: (string | null)[] | null; // to the day, the month or the year
  labels: number[][] | null;
  label_names: string[] | null; // of all columns, one column after the other
  label_columns: LabelColumn[] | null;
  posterior: Float32Array;
  margin: Float32Array;
  log_odds: Float32Array;
  cosine: Float32Array;
  group: Uint16Array;
  second_group: Uint16Array | null;
  passages: Passages | null;
  leaf?: Uint16Array | null; // of the tree
  counted: Counted | null; // where these are a sample
}

// All documents, counted by stratum: a fine group, or a group where there is no tree; the last one has
// those that belong nowhere. Passages are parts of their documents.
export interface Counted {
  n_documents: number;
  of: Uint16Array; // of each document of the sample
  sizes: Float32Array;
  labels: Cells | null;
  dates: (Cells & { names: (string | null)[] }) | null; // to the month
}

export interface Cells {
  stratum: Uint16Array;
  value: Uint32Array;
  n: Float32Array;
}

// The labels of a column of the corpus, from start to before stop.
export interface LabelColumn {
  name: string;
  start: number;
  stop: number;
}

// What the meaning of each document adds to the scores of its group and of the second one.
export interface Meaning {
  own: Float32Array;
  rival: Float32Array;
}

export interface Rows {
  indptr: Uint32Array;
  words: Numbers;
  values: Uint16Array | Float32Array;
  scale: Float32Array | null;
  n_words: Uint32Array; // of each document, whether the page has them or not
}

// An array as the header of the packed content describes it.
export interface PackedArray {
  array: "int8" | "uint8" | "uint16" | "uint32" | "float32";
  shape: number[];
  offset: number;
  delta: boolean;
}

// One step of the path, read

export interface Block {
  start: number;
  stop: number;
  count: number;
  groups: number[];
}

export interface Step {
  index: number;
  exact: boolean; // the chosen step, of which the page has prototypes to 7 digits
  entry: StepEntry;
  K: number;
  W: number;
  levels: Levels; // groups x words
  labels: Labels; // of the documents; empty where they are not known
  weight: (k: number, j: number) => number;
  scores: (k: number) => Float64Array; // how characteristic each word is of the group
  groups: number[]; // by weight
  counts: Uint16Array; // of the groups of each word
  shownCounts: number[]; // of the words of each group, as far as the page shows them
  order: Uint32Array; // place to word
  places: Uint32Array; // word to place
  blocks: Block[];
  active: number; // words shown that some group has
}

export type StepOf = (index: number) => Step;

// The groups that are looked at

export interface Group {
  id: number; // of the group, or of the node of the tree
  whole: number; // the group of the model that it is; -1: it was not fitted
  holds: number[]; // the groups of the model that are wholly in it
  within: boolean; // whether it is a part of a group
  by: number[]; // the reader's edits that made it, by their places in the list
  name: () => string;
  size: number;
  words: string[];
  own: boolean[]; // of these words: whether no other group has them
  only: string[];
  stability: number | null;
  colour: { light: string; dark: string };
}

export interface Grouping {
  exact: boolean; // the groups of the model, of which there is everything
  groups: Group[];
  labels: Labels; // group of each document
  byId: Map<number, Group>; // groups, and the entry of documents that belong nowhere
  nowhere: Group | null; // null: every document has a group
  listed: Group[]; // all of them, nowhere last
  holderOf: (k: number) => number; // the one that a group of the model is in
  profile: () => { step: Step; content: Content } | null; // as a step, a row each, and the content around it
}

// What is being looked at

export type Zoom = [number, number];
export type Tab = "map" | "prototypes" | "data" | "labels" | "time" | "candidates" | "corpus";
export type Listing = "typical" | "borderline" | "all";
export type Sort = "central" | "share" | "unsure" | "newest" | "unlike" | "given"; // of all of them
export type Measure = "group" | "label" | "count"; // shares of the group or of the label, or documents
export type Amount = "count" | "share"; // documents, or their share of a period
export type Scope = "group" | "all";
export type Certainty = "clearly" | "probably" | "borderline";
export type Sure = Certainty | "nowhere";

export interface Now {
  step: number;
  cut: number; // number of groups along the tree; 0: those of the model
  group: number;
  node: number; // of the tree, where cut is not 0
  compared: number; // group that the chosen one is compared with
  edited: number; // counts the changes of names and notes; not part of the address
  document: number; // -1: none, and so for the others
  word: number;
  tab: Tab;
  zoom: Zoom;
  scope: Scope;
  list: Listing;
  sort: Sort;
  column: number; // of labels
  measure: Measure; // of labels
  sorted: number; // the label that groups are sorted by; -1: their own order
  labels: "frequent" | "all"; // of the column
  amount: Amount; // over time
  scale: "own" | "one"; // of each group, or of all groups over time
  smooth: string; // periods on each side
  text: string;
  lasso: string; // drawn around documents on the map: x, y, x, y ... in thousandths
  view: string; // of the map: its middle, and how near; "": all of it
  colour: string; // what the colours of points mean
  label: number;
  rival: number;
  from: string;
  to: string;
  candidate: number;
  theme: "auto" | "light" | "dark";
}

export type Key = keyof Now;
// Of a number the least and the largest value; of a text its values, or what they look like.
export type Limits = { [K in Key]?: Now[K] extends number ? [number, number] : string[] | RegExp };

export interface State {
  now: Now;
  set: (changes: Partial<Now>) => void;
  follow: (keys: Key[], action: () => void) => void;
  followAtRest: (keys: Key[], action: () => void) => void;
}

export interface App {
  content: Content;
  state: State;
  stepOf: StepOf;
  groups: () => Grouping; // that are looked at now
  groupsAt: (now: Pick<Now, "cut" | "step">) => Grouping;
  edits: Edits;
  lasso: Lasso;
}

// What a colour of the map of documents stands for.
export interface LegendItem {
  colour: number;
  text: string;
}

// One meaning of the colours of the map.
export interface Colouring {
  value: string;
  text: string;
  colours: (dark: boolean) => Uint32Array;
  legend: (dark: boolean) => LegendItem[];
}

// What is drawn around documents on the map, and whether one is inside; null: nothing is.
export interface Lasso {
  line: () => [number, number][] | null;
  has: () => ((i: number) => boolean) | null;
}

// What the reader changed, as edits.json has it; groups by number (with nodes, by node of the tree), documents
// by id.
export interface EditRecord {
  format: string;
  version: number;
  run: string | null;
  nodes?: number[]; // of the tree, in the place of the groups
  names: Record<string, string>;
  merge: number[][];
  split: number[];
  move: Record<string, number>;
  drop_words: string[];
  notes: { groups: Record<string, string>; documents: Record<string, string> };
  misplaced: string[];
}

// One thing that the reader changed. Groups have the numbers that they had then.
export type Edit =
  | { kind: "cut"; nodes: number[] } // the groups are these nodes of the tree
  | { kind: "merge"; groups: number[] }
  | { kind: "split"; group: number }
  | { kind: "name"; group: number; name: string }
  | { kind: "move"; documents: string[]; group: number }
  | { kind: "drop"; word: string }
  | { kind: "note"; group: number; text: string }
  | { kind: "note document"; document: string; text: string }
  | { kind: "misplaced"; document: string };

// A group after the edits: nodes of the tree, together.
export interface PlannedGroup {
  id: number;
  nodes: number[];
  groups: number[]; // of the model, that are wholly in it
  name: string;
  given: boolean; // by these edits
  divided: boolean; // into parts that nobody knows yet
  by: number[]; // the edits that made it, by their places in the list
}

export interface Plan {
  groups: PlannedGroup[];
  changed: boolean; // groups are others, or have other documents
  cut: number; // number of groups along the tree that was asked for last; 0: that of the model
  moved: Map<number, number>; // documents, and where they are now
  dropped: Set<string>;
  notes: Map<number, string>;
  documentNotes: Map<string, string>;
  misplaced: Set<string>;
  holders: number[]; // by group of the model: the group that it is in
  used: boolean[]; // by edit: whether there is what it speaks of
}

export interface Edits {
  list: () => Edit[];
  plan: () => Plan;
  record: () => EditRecord;
  change: (action: (list: Edit[]) => Edit[], more?: Partial<Now>) => void;
  clear: () => void;
  original: (k: number) => string; // name
  isDropped: (word: string) => boolean;
  isMisplaced: (id: string) => boolean;
}

// Elements

export type Child = Node | string | null | undefined;
export type Listeners = {
  [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void;
};

export interface Properties {
  on?: Listeners;
  [attribute: string]: string | number | boolean | null | undefined | Listeners;
}

// Elements of index.html that are more than an HTMLElement.
export interface Places {
  beta: HTMLInputElement;
  cut: HTMLInputElement;
  help: HTMLDialogElement;
  edits: HTMLDialogElement;
  ask: HTMLDialogElement;
  whole: HTMLDialogElement;
  "ask-form": HTMLFormElement;
  map: HTMLCanvasElement;
  marks: HTMLCanvasElement;
  printed: HTMLImageElement;
  search: HTMLInputElement;
}

export type Cell = string | number | null | undefined;

export interface Table {
  columns: string[];
  rows: Cell[][];
}

// The maps

export interface Columns {
  x: (place: number) => number;
  place: (pixels: number) => number;
  share: (place: number) => number;
  unit: number;
  left: number;
  right: number;
}

export interface Row {
  k: number;
  y: number;
  height: number;
}

export interface Colours {
  ground: string;
  ink: string;
  soft: string;
  line: string;
  panel: string;
  bar: string;
}

// The groups whose words are shown, as a step of the path with the content around it.
export interface ShownWords {
  content: Content;
  step: Step;
  known: boolean; // whether they are the groups that are looked at
  groupOf: (k: number) => Group; // that a row is of, or is in
}

export interface View extends ShownWords {
  palette: Uint32Array;
  colours: Colours;
  scale: number;
  columns: Columns;
  rows: Row[];
  width: number;
  height: number;
  gutter: number;
}

// What the pointer is on: a row, a column (-1: none), the labels above.
export interface Target {
  row: Row | null;
  place: number;
  head: boolean;
}

export interface Tooltip {
  show: (view: View, target: Target, x: number, y: number) => void;
  hide: () => void;
}

export interface Curve {
  name: string;
  values: (number | null)[];
  cut?: boolean;
}

export type Context = CanvasRenderingContext2D;
export type Rgb = number[];
export type Role = "own" | "shared" | "common" | "other" | "none";

export interface Term {
  j: number;
  x: number;
  own: number;
  other: number;
  difference: number;
}

// The map of documents

export interface MapLayout {
  x: Uint16Array; // from left to right, up to 65,535
  y: Uint16Array; // from bottom to top, on the same scale
}

export interface Points {
  n: number;
  x: Float32Array; // from 0 to 1
  y: Float32Array;
}

// What is in the middle, and how many pixels the unit of the map has, across and down.
// In pixels of the screen; right and bottom are outside.
export interface Rectangle {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface MapView {
  x: number;
  y: number;
  scale: number;
  whole: number; // the scale that shows all
  width: number;
  height: number;
}

export interface PointIndex {
  order: Uint32Array; // all points, neighbours after each other
  within: (
    left: number,
    bottom: number,
    right: number,
    top: number,
    visit: (id: number) => void,
  ) => void;
}

export interface Shown {
  colours: Uint32Array; // 0xRRGGBB
  ground: number;
  order: { faded: Uint32Array; full: Uint32Array };
  faint: number; // how much of their colour the faded ones keep, of 128
  opacity: number; // of the others, of 128
  under: Int32Array | null; // the pixels below the points; null: the ground alone
}

// Lines around the densest parts of a group, the outer ones first; each x, y, x, y ... from 0 to 1.
export type Contour = number[][][];

export interface MapLabel {
  x: number; // as in the layout
  y: number;
  text: string;
  weight: number; // those of large weight are placed first, and written larger
  colour?: string | undefined; // of the group
  group?: number; // what a click on the name chooses
  contour?: Contour;
  from?: number; // times nearer than all documents from which it is seen; undefined: always
  until?: number;
  spots?: { xs: number[]; ys: number[] }; // some documents of the group
}

export interface PlacedLabel {
  text: string;
  size: number;
  left: number;
  top: number;
  width: number;
  height: number;
  anchor: [number, number]; // the pixel that it belongs to
  colour?: string | undefined;
  group?: number | undefined;
}

export interface MapGestures {
  view: () => MapView;
  show: (view: MapView) => void;
  reset: () => void;
  near: (left: number, top: number, reach?: number) => number;
  hover: (id: number, left: number, top: number) => void;
  select: (id: number) => void;
  name: (left: number, top: number) => number | null; // the group whose name is there
  choose: (group: number) => void;
  isLasso: () => boolean;
  drawLasso: (line: [number, number][] | null) => void;
  lasso: (line: [number, number][]) => void;
}

export interface DocumentMapParts {
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  colours: Uint32Array;
  labels: MapLabel[];
  describe: (id: number) => { title: string; line: string; note: string }; // what the tip says
  beside: (id: number) => number[]; // other points that are marked with a chosen one
  onSelect: (id: number) => void; // -1: none
  onName: (group: number) => void; // its name was clicked
  onLasso: (line: [number, number][]) => void;
  onView: (view: string) => void; // the part of the map that is seen, once it rests
  onReset: () => void; // all documents were asked for
}

// What the keys act on where it is shown.
export interface Zoomable {
  zoom: (factor: number) => void;
  pan: (share: number) => void; // of the width, to the right
  showAll: () => void;
}

export interface DocumentMap extends Zoomable {
  element: HTMLElement;
  setColours: (colours: Uint32Array) => void;
  setHighlighted: (mask: Uint8Array | null) => void; // null: none is faded
  setChosen: (mask: Uint8Array | null, groups?: Iterable<number>) => void; // the others are paler
  setLasso: (line: [number, number][] | null) => void; // a line that stays
  setView: (view: string) => void; // as onView told it; "": all of it
  setLabels: (labels: MapLabel[]) => void;
  select: (id: number) => void;
  resize: () => void;
  refresh: () => void; // after a change of the theme
  figure: () => SVGSVGElement; // the view, in which no group is dimmed
  print: () => void; // puts the view on paper
}
