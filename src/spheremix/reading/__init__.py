"""Reading a model: words, blocks of vocabulary, documents, tables, alignments.

Computed values only: nothing here draws, reads or writes files.
"""

from __future__ import annotations

from spheremix.reading.alignment import (
    Alignment,
    Flow,
    Match,
    Moves,
    align_partitions,
    align_prototypes,
    flows,
    moves,
)
from spheremix.reading.characteristic import (
    characteristic_scores,
    cluster_masses,
    document_shares,
)
from spheremix.reading.cluster import Cluster
from spheremix.reading.contrast import (
    ContrastWord,
    cluster_counts,
    contrast_words,
    log_odds_contrast,
)
from spheremix.reading.documents import Documents, read_documents
from spheremix.reading.naming import all_naming_words, cluster_name, naming_words
from spheremix.reading.ordering import (
    Block,
    Layout,
    cluster_order,
    document_order,
    feature_order,
    layout,
)
from spheremix.reading.positions import document_positions
from spheremix.reading.reading import Reading
from spheremix.reading.tables import Agreement, Contingency, agreement, contingency
from spheremix.reading.timeline import Timeline, parse_dates, timeline
from spheremix.reading.tree import TreeNode, tree_nodes
from spheremix.reading.vocabulary import Vocabulary, Word
from spheremix.reading.why import Explanation, Term, explain

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
    "TreeNode",
    "Vocabulary",
    "Word",
    "agreement",
    "align_partitions",
    "align_prototypes",
    "all_naming_words",
    "characteristic_scores",
    "cluster_counts",
    "cluster_masses",
    "cluster_name",
    "cluster_order",
    "contingency",
    "contrast_words",
    "document_order",
    "document_positions",
    "document_shares",
    "explain",
    "feature_order",
    "flows",
    "layout",
    "log_odds_contrast",
    "moves",
    "naming_words",
    "parse_dates",
    "read_documents",
    "timeline",
    "tree_nodes",
]
