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
from spheremix.reading.contrast import (
    ContrastWord,
    contrast_words,
    group_counts,
    log_odds_contrast,
)
from spheremix.reading.document_map import document_positions
from spheremix.reading.documents import Documents, read_documents
from spheremix.reading.labels import Agreement, Contingency, agreement, contingency
from spheremix.reading.names import naming_words
from spheremix.reading.ordering import (
    Block,
    Layout,
    group_order,
    layout,
)
from spheremix.reading.reading import Group, Reading
from spheremix.reading.timeline import Timeline, parse_dates, timeline
from spheremix.reading.tree import TreeNode, tree_nodes
from spheremix.reading.why import Explanation, Term, explain
from spheremix.reading.words import (
    Vocabulary,
    Word,
    characteristic_scores,
    group_masses,
    word_shares,
)

__all__ = [
    "Agreement",
    "Alignment",
    "Block",
    "Contingency",
    "ContrastWord",
    "Documents",
    "Explanation",
    "Flow",
    "Group",
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
    "characteristic_scores",
    "contingency",
    "contrast_words",
    "document_positions",
    "explain",
    "flows",
    "group_counts",
    "group_masses",
    "group_order",
    "layout",
    "log_odds_contrast",
    "moves",
    "naming_words",
    "parse_dates",
    "read_documents",
    "timeline",
    "tree_nodes",
    "word_shares",
]
