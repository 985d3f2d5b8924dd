"""What a run says about itself: every key of ``run.json``, once, with its meaning.

These dataclasses, with those of :mod:`spheremix.run.tree_schema`, are the only definition of the
manifest. :mod:`spheremix.run.typed` writes and reads them, the page about the folder of a run is
made of them, and everything that needs to know something about a run asks a :class:`Manifest`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spheremix._files import RUN
from spheremix.errors import Message  # noqa: TC001
from spheremix.estimators.restarts import Restart  # noqa: TC001 (types are read when decoding)
from spheremix.run.tree_schema import FittedTreeRecord, TreeRecord  # noqa: TC001
from spheremix.run.typed import FileName, about

FORMAT = RUN
VERSION = 2
FIT = 16  # digits of a checksum by which people tell fits apart


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRecord:
    """Rows in plain files: dense ones in ``rows``, sparse ones as the three arrays of a CSR."""

    shape: list[int] = about("Number of rows and of columns.")
    rows: FileName | None = about("The values of dense rows.", default=None)
    data: FileName | None = about("The non-zero values of sparse rows.", default=None)
    indices: FileName | None = about("The columns of these values.", default=None)
    indptr: FileName | None = about("Where each row begins among these values.", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Thresholds for rare and common words."""

    min_count: int = about("Smallest number of occurrences of a word that was kept.")
    min_df: int = about("Smallest number of documents with a word that was kept.")
    max_df: int = about("Largest number of documents with a word that was kept.")
    cost: dict[str, int] = about(
        "How many words each of them left out; a word counts for the first of min_df, min_count "
        "and max_df that it does not meet.",
        default_factory=dict,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorizerRecord:
    """How texts became rows."""

    parameters: dict[str, Any] = about("Parameters of the TextVectorizer.")
    thresholds: Thresholds = about("The thresholds that were in force.")
    n_words_before: int = about("Number of words before rare and common words were left out.")
    idf: FileName | None = about("Weights of the words in tf-idf.", default=None)
    phrases: list[tuple[Any, ...]] = about(
        "Phrases: the two words, the phrase as it is shown, and the normalised pointwise mutual "
        "information of the two.",
        default_factory=list,
    )
    forms: FileName | None = about("The word of every form in the documents.", default=None)
    removed: dict[str, dict[str, int]] = about(
        "Words that were left out and the number of documents that have them, by reason; of rare "
        "and mixed words, the 1,000 that most documents have.",
        default_factory=dict,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentsRecord:
    """The documents themselves: what an exploration knows beside the rows."""

    texts: FileName = about("The documents: id, text, date, labels.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRecord:
    """Documents that became rows: what the first stage of an exploration leaves."""

    matrix: MatrixRecord | None = about("The rows that were clustered.", default=None)
    kept: FileName | None = about("The numbers of their documents, from 0.", default=None)
    vocabulary: FileName | None = about("The words of the columns.", default=None)
    texts: FileName | None = about("The documents with all that came with them.", default=None)
    vectorizer: VectorizerRecord | None = about("How texts became rows.", default=None)
    counts: MatrixRecord | None = about("Counts of words beside embeddings.", default=None)
    terms: FileName | None = about("The words that were counted.", default=None)
    dropped_lines: list[str] = about(
        "Repeated lines that were left out of the documents.", default_factory=list
    )
    trouble: list[Message] = about("What looks wrong in the texts.", default_factory=list)
    set_aside: list[tuple[Any, ...]] = about(
        "Numbers of documents without a row, with the reasons.", default_factory=list
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MixtureRecord:
    """A fitted mixture."""

    params: dict[str, Any] = about("Parameters of the estimator.")
    prototypes: FileName = about("Prototypes: one unit vector for each cluster.")
    kappas: FileName = about("Concentrations.")
    weights: FileName = about("Shares of the clusters in the mixture.")
    labels: FileName | None = about("The most probable cluster of each row.", default=None)
    n_components: int = about("Number of clusters.")
    n_features: int = about("Number of columns.")
    log_likelihood: float = about("Log-likelihood of all rows, without penalty.")
    objective: float = about("The penalised log-likelihood, which is maximised.")
    stationarity_gap: float = about("What one more iteration would gain at least, in nats per row.")
    kkt_residual: float = about("Largest violation of the first-order conditions.")
    kappa_max: float = about("The cap of the concentrations.")
    noise_level: float | None = about("Log-density of the noise, if there is any.", default=None)
    status: str = about("How EM ended.")
    n_iter: int = about("Number of iterations of EM.")
    criteria: dict[str, float] = about("Information criteria; smaller is better.")
    runs: list[Restart] = about("How every start went.")
    agreement: float = about("Mean adjusted Rand index of the other runs with the best one.")


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseRecord:
    """The mixture without penalty of one number of clusters, or why there is none."""

    mixture: MixtureRecord | None = about("The best of the starts.", default=None)
    notes: list[Message] = about("What should be said about the fit.", default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class StabilityRecord:
    """How far the clusters of documents that were drawn again agree."""

    mean: float = about("Mean adjusted Rand index of pairs of draws.")
    error: float = about("Its standard error.")
    n_replicates: int = about("Number of draws.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChanceRecord:
    """What documents without clusters give, beside what the documents give."""

    one: float = about("Log-likelihood of one cluster.")
    most: int = about("Largest number of clusters that is worth trying.")
    sizes: list[int] = about("Numbers of clusters that were compared.", default_factory=list)
    gains: list[float] = about("Gain of the documents over one cluster.", default_factory=list)
    chance_gains: list[list[float]] = about(
        "The same for each set of documents without clusters.", default_factory=list
    )
    stability: list[float] = about("Stability without clusters.", default_factory=list)
    n_taken: int = about("Number of documents that were compared.", default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendedRecord:
    """A number of clusters that is recommended."""

    n_clusters: int = about("The number; 1 stands for no clusters.")
    reading: str = about("first, coarser, finer, or none for no clusters.")
    sentence: str = about("Why, in words.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceRecord:
    """How many clusters there are, and how sure that is."""

    recommended: list[RecommendedRecord] = about("One to three numbers, the best first.")
    certainty: str = about("clear, fair or weak.")
    doubts: list[str] = about("What speaks against the first number.", default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class FitRecord:
    """Parameters together with their resultants: where a path can go on with the same bits."""

    prototypes: FileName = about("Prototypes: unit vectors.")
    kappas: FileName = about("Concentrations.")
    weights: FileName = about("Shares of the clusters.")
    log_normalizers: FileName = about("Logarithms of the normalising constants.")
    mass: FileName = about("Weight of the rows of each cluster.")
    vectors: FileName = about("Sums of the rows of each cluster.")
    n_components: int = about("Number of clusters.")
    n_noise: int = about("1 where masses and sums end with those of the noise.", default=0)
    n_features: int = about("Number of columns.")
    norm: float = about("Sum of the l1 norms.")
    log_likelihood: float = about("Log-likelihood of all rows.")
    entropy: float = about("Entropy of the assignments.")
    weight: float = about("Total weight of the rows.")
    objective: float = about("The penalised log-likelihood, which is maximised.")
    gap: float = about("The stationarity gap.")
    status: str = about("How EM ended.")
    n_iter: int = about("Number of iterations of EM.")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepsRecord:
    """The points of a path."""

    files: dict[str, FileName] = about("One array for each quantity.")
    statuses: list[str] = about("How EM ended, numbered.")
    n_steps: int = about("Number of points.")
    n_components: int = about("Number of clusters.")
    n_features: int = about("Number of columns.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PathRecord:
    """A fitted path from dense prototypes to sparse ones."""

    params: dict[str, Any] = about("Parameters of the estimator.")
    steps: StepsRecord = about("The points of the path.")
    dense: FitRecord = about("The fit at its beginning.")
    last: FitRecord = about("The fit at its end.")
    refits: StepsRecord | None = about(
        "Of a relaxed path: the points fitted again without penalty on their supports. Their "
        "values lie on the places of the points.",
        default=None,
    )
    last_refit: FitRecord | None = about("Of a relaxed path: the last refit.", default=None)
    n_inserted: int = about("Points that were inserted afterwards.")
    status: str = about("How the path ended.")
    kappa_max: float = about("The cap of the concentrations.")
    noise_level: float | None = about("Log-density of the noise, if there is any.", default=None)
    labels: FileName | None = about("Clusters of the rows in the chosen mixture.", default=None)
    chosen_noise_level: float | None = about(
        "Log-density of the noise in predictions, where it had to be lowered for the share of "
        "documents that belong nowhere.",
        default=None,
    )
    runs: list[Restart] = about("How the starts of the dense mixture went.")
    agreement: float = about("Mean adjusted Rand index of the other starts with the best one.")


@dataclass(frozen=True, slots=True, kw_only=True)
class FirmnessRecord:
    """How often documents, clusters and words stay when the documents are drawn again."""

    documents: FileName = about("Share of the draws in which each document stays.")
    clusters: FileName = about("How similar each cluster is to what comes of it, on average.")
    words: FileName = about("Share of the draws in which each word stays, cluster after cluster.")
    places: FileName = about("The columns of these words.")
    ends: FileName = about("Where the words of each cluster begin among them, and where they end.")
    n_replicates: int = about("Number of draws.")
    n_lost: int = about(
        "Draws in which a cluster was lost, so that nothing counts as having stayed.", default=0
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutRecord:
    """The documents on a map."""

    positions: FileName = about("Two coordinates for each row, between 0 and 1.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusRecord:
    """Where the documents come from."""

    source: str = about("The file or folder that was read.")
    format: str = about("Format in which it was read.")
    checksum: str = about("SHA-256 of its content.")
    texts: str | None = about("The file of the texts beside a matrix.", default=None)
    notes: list[str] = about("Which columns were used, and what was changed.")
    n_documents: int = about("Number of all documents.")
    n_set_aside: int = about("Number of documents without a row.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementRecord:
    """How the clusters agree with the labels."""

    ari: float = about("Adjusted Rand index.")
    nmi: float = about("Normalised mutual information.")
    n_documents: int = about("Number of documents that have a label.")


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRecord:
    """The name of a cluster."""

    name: str = about("The name.")
    source: str = about("The file or the function that gave it; spheremix for automatic names.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The content of ``run.json``, which makes a folder a run."""

    format: str = about(f"Always {FORMAT!r}.", default=FORMAT)
    version: int = about("Version of the format.", default=VERSION)
    command: dict[str, Any] = about(
        "The options that the result depends on, and checksums of the input.", default_factory=dict
    )
    versions: dict[str, str] = about(
        "Versions of the libraries that the last digits depend on.", default_factory=dict
    )
    corpus: CorpusRecord | None = about("Where the documents come from.", default=None)
    prepared: PreparedRecord = about("The documents as rows.", default_factory=PreparedRecord)
    dense: dict[int, MixtureRecord] = about("Mixtures without penalty, by number of clusters.")
    path: PathRecord | None = about("The path from dense to sparse prototypes.", default=None)
    fitted_tree: FittedTreeRecord | None = about(
        "The VMFTree that was saved, if it was one.", default=None
    )
    best_n_components: int = about("The number of clusters that was chosen.")
    firmness: FirmnessRecord | None = about(
        "How firm documents, clusters and words are.", default=None
    )
    label_agreement: dict[str, AgreementRecord] = about(
        "Agreement with the labels, by their column, where a document has one at most.",
        default_factory=dict,
    )
    advice: AdviceRecord | None = about(
        "How many clusters are recommended, where the number was not given.", default=None
    )
    tree: TreeRecord | None = about("Fine groups and merges of the clusters.", default=None)
    contrast: list[list[str]] | None = about(
        "For embeddings with texts: words that set each cluster apart.", default=None
    )
    names: list[NameRecord] | None = about("The names of the clusters, by number.", default=None)
    layout: LayoutRecord | None = about("The documents on a map.", default=None)
    edits: FileName | None = about("The edits that people made to the run.", default=None)
    tables: dict[str, FileName] = about("The tables, by name.", default_factory=dict)
    files: dict[str, Any] = about(
        "Every file that was written with its size and checksum, and of arrays shape and type.",
        default_factory=dict,
    )

    @property
    def fit(self) -> str | None:
        """What the numbers of the clusters stand for: the checksum of the dense prototypes."""
        record = self.dense.get(self.best_n_components)
        entry = None if record is None else self.files.get(record.prototypes)
        return str(entry.get("sha256"))[:FIT] if isinstance(entry, dict) else None

    @property
    def start_agreement(self) -> dict[int, float]:
        """How far the other starts agree with the best one, by number of clusters."""
        return {K: mixture.agreement for K, mixture in self.dense.items()}
