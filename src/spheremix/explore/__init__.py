"""Reading a model: words, blocks of vocabulary, documents, tables, alignments.

Computed values only: nothing here draws, reads or writes files.
"""

from __future__ import annotations

from spheremix.explore.alignment import (
    Alignment,
    Flow,
    Match,
    Moves,
    align_partitions,
    align_prototypes,
    moves,
)
from spheremix.explore.contrast import (
    ContrastWord,
    cluster_counts,
    contrast_words,
    log_odds_contrast,
)
from spheremix.explore.documents import Documents, read_documents
from spheremix.explore.naming import cluster_name, naming_words
from spheremix.explore.ordering import (
    Block,
    Layout,
    cluster_order,
    document_order,
    feature_order,
    layout,
)
from spheremix.explore.reading import Cluster, Reading
from spheremix.explore.tables import Agreement, Contingency, agreement, contingency
from spheremix.explore.timeline import Timeline, parse_dates, timeline
from spheremix.explore.vocabulary import Vocabulary, Word
from spheremix.explore.why import Explanation, Term, explain

__all__ = [
    "Agreement",
    "Alignment",
    "Block",
    "Cluster",
    "Contingency",
    "ContrastWord",
    "Documents",
    "Explanation",
    "Flow",
    "Layout",
    "Match",
    "Moves",
    "Reading",
    "Term",
    "Timeline",
    "Vocabulary",
    "Word",
    "agreement",
    "align_partitions",
    "align_prototypes",
    "cluster_counts",
    "cluster_name",
    "cluster_order",
    "contingency",
    "contrast_words",
    "document_order",
    "explain",
    "feature_order",
    "layout",
    "log_odds_contrast",
    "moves",
    "naming_words",
    "parse_dates",
    "read_documents",
    "timeline",
]
