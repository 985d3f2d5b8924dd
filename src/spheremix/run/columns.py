"""The tables of a run: every table and column, once, with its meaning.

Tables are written and read by this description; README.txt of the folder of a run and the page
about it in the documentation are made of it. The other files: :mod:`spheremix.run.folder.schema`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spheremix.reading.documents import STABLE, UNSTABLE
from spheremix.reading.tree import NEARLY_ALL
from spheremix.reading.words import ONLY_HERE_SHARE
from spheremix.select import CRITERIA
from spheremix.text.columns import write_labels
from spheremix.text.corpus import shown
from spheremix.text.selection import MOST_LISTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spheremix.text import Corpus

GROUP = "Number of the group, from 0; a group has the same number everywhere."


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: what it means, and of which type its values are."""

    meaning: str
    kind: type[int | float | str] = str


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A table of a run."""

    file: str
    about: str
    columns: Mapping[str, Column]
    others: str = ""  # what further columns mean, where a run may have any


CRITERION_COLUMNS = dict.fromkeys(
    CRITERIA, Column("Information criterion; smaller is better.", float)
)
TABLES: dict[str, TableSchema] = {
    "documents": TableSchema(
        "documents.csv",
        "One row for each document, in the order of the file.",
        {
            "id": Column("Id of the document, or its number from 1."),
            "title": Column("Title of the document; the name of a text file."),
            "date": Column("Date, as far as it is known: 2016-10-12, 2016-10 or 2016."),
            "passages": Column(
                "Number of passages of the document; this column and those of shares are there if "
                "documents were split.",
                int,
            ),
            "group": Column(
                "Most probable group of the document, or the one with the largest share if "
                "documents were split; empty if the document was set aside, and "
                "-1 if it belongs nowhere. Such a document fits no group: its other columns are "
                "about the group that is nearest to it, which is its second_group.",
                int,
            ),
            "name": Column("Name of this group, or 'belongs nowhere'."),
            "share": Column(
                "Share of this group in the document: the mean of the probabilities of its "
                "passages, weighted by their words.",
                float,
            ),
            "broad_group": Column(
                "Broad group that its group lies in, or the one with the largest share if "
                "documents were split: a node of tables/tree.csv.",
                int,
            ),
            "broad_name": Column("Name of the broad group, if documents were split."),
            "broad_share": Column(
                "Share of the broad group in the document: the sum of those of its groups.", float
            ),
            "fine_group": Column(
                "Fine group of the document, a part of its group: a leaf of tables/tree.csv.", int
            ),
            "certainty": Column(
                "How surely the document is in its group, in words, by its stability. 'borderline "
                f"with NAME': below {UNSTABLE:g}; NAME is the second group. 'clearly here': "
                f"{STABLE:g} or more. 'probably here': all others."
            ),
            "stability": Column(
                "How sure the group is: share of 12 samples, each a third of the documents with a "
                "search of its own, in which the group is there again with this document in it; "
                "for a document that belongs nowhere, in which it belongs nowhere again. If "
                "documents were split, the mean over its passages, weighted by their words.",
                float,
            ),
            "posterior": Column(
                "Probability of this group according to the model. It is nearly always 1, even "
                "for texts of one word, and does not tell how sure you can be. Compare documents "
                "by stability, log_odds and cosine.",
                float,
            ),
            "label_probability": Column(
                "Probability that the document has the label for which its group stands, learnt "
                "from the documents that have one; only where a column has one label for 50 "
                "documents or more, and none for 50 or more.",
                float,
            ),
            "margin": Column(
                "Posterior of this group minus the posterior of the second group.", float
            ),
            "second_group": Column(
                "The next most probable group, or the one with the next largest share; empty if "
                "there is only one group.",
                int,
            ),
            "second_name": Column("Name of the second group, if documents were split."),
            "second_share": Column("Share of the second group in the document.", float),
            "third_group": Column("The group with the third largest share.", int),
            "third_name": Column("Name of the third group."),
            "third_share": Column("Share of the third group in the document.", float),
            "log_odds": Column(
                "Logarithm of the ratio of the two posteriors. Near 0, the document lies between "
                "two groups.",
                float,
            ),
            "cosine": Column(
                "Cosine with the prototype of the group: how typical the document is, at most 1.",
                float,
            ),
            "x": Column(
                "Position on the map of the documents, from left to right, between 0 and 1. Near "
                "documents are alike; distances between far ones mean little.",
                float,
            ),
            "y": Column("Position on the map of the documents, from bottom to top.", float),
            "n_words": Column(
                "Number of different words of the vocabulary in the document. How much its group "
                "says is told by its stability.",
                int,
            ),
            "repeats": Column("Id of the first document with the same text; else empty."),
            "set_aside": Column("Why the document has no group; empty if it has one."),
            "language": Column(
                "Language of the document, as its stop words say; only if several languages were "
                "found or given. Empty where they do not say."
            ),
            "note": Column("Note on the document, from the edits of the run."),
            "misplaced": Column(
                "1 if people marked the document as misplaced, else 0. It changes no group.", int
            ),
        },
        others="Column of the input: first the labels, then the others. Several labels of a "
        "document are separated by semicolons; lists and objects are JSON. A column whose name is "
        "listed above has _input at its end.",
    ),
    "groups": TableSchema(
        "groups.csv",
        "One row for each group, the largest weight first. If documents may belong nowhere, they "
        "are the last row, with the number -1.",
        {
            "group": Column(GROUP, int),
            "name": Column(
                "Three characteristic words of the group that many of its documents contain and "
                "few others, or the name that was given; no two groups share two of these words."
            ),
            "note": Column("Note on the group, from the edits of the run."),
            "broad_group": Column(
                "Broad group that it lies in, a node of tables/tree.csv; only where fewer groups "
                "are more stable, or levels were asked for.",
                int,
            ),
            "broad_name": Column("Name of this broad group."),
            "size": Column("Number of documents whose most probable group it is.", int),
            "mean_share": Column(
                "If documents were split: mean share of the group in the documents. Size is then "
                "a number of passages.",
                float,
            ),
            "size_before": Column("The same before the update; 0 for a new group.", int),
            "stability": Column(
                "Whether the group would be there in other documents: the mean, over 12 samples, "
                "each a third of the documents with a search of its own, of its similarity with "
                "the group most similar to it (documents in both, as a share of those in "
                "either). Above .75 it is stable, below .5 it is not.",
                float,
            ),
            "weight": Column("Share of the group in the mixture.", float),
            "kappa": Column(
                "Concentration: the larger it is, the nearer the documents are to the prototype.",
                float,
            ),
            "contrast_words": Column(
                "For embeddings with texts: the 20 most characteristic words of its texts."
            ),
            "words": Column(
                "The 20 most characteristic words: they weigh much in the prototype of the "
                "group, and most of their use is in this group."
            ),
            "only_here_words": Column(
                "The first 20 words that no other prototype has and that at least "
                f"{100 * ONLY_HERE_SHARE:.0f} % of the documents of the group contain, twice the "
                "share of any other group at least."
            ),
            "shared_words": Column(
                "The first 20 words that some other prototypes have too. Words that all prototypes "
                "have are in neither of these two lists: see n_groups in words.csv."
            ),
            "n_words": Column("Number of words (or columns) in the prototype of the group.", int),
            "n_only_here_words": Column(
                "Number of these words that no other prototype has, rare or not.", int
            ),
        },
    ),
    "words": TableSchema(
        "words.csv",
        "One row for each word of each group, the most characteristic words first.",
        {
            "group": Column(GROUP, int),
            "rank": Column("Rank of the word in the group, from 1, by score.", int),
            "word": Column("The word; x0, x1, ... if columns have no names."),
            "feature": Column("Number of the column of the word, from 0.", int),
            "score": Column(
                "How characteristic the word is: its weight to the power 1.5, times the share of "
                "the word that the model expects in this group.",
                float,
            ),
            "weight": Column("Weight of the word: its coordinate in the prototype.", float),
            "stability": Column(
                "Share of these samples in which the group is there again with this word; "
                "without a penalty, with this word among its 20 most characteristic ones, and "
                "empty for other words.",
                float,
            ),
            "share_of_documents": Column(
                "Share of the documents of the group that have the word; empty for embeddings.",
                float,
            ),
            "exit_beta": Column(
                "Smallest beta at which the word is dropped from the group; inf if it never is.",
                float,
            ),
            "n_groups": Column(
                "Number of groups whose prototypes have the word; 1 if it is only here.", int
            ),
        },
    ),
    "typical": TableSchema(
        "tables/typical.csv",
        "The documents nearest to each prototype; documents with equal texts are listed once.",
        {
            "group": Column(GROUP, int),
            "rank": Column("Rank of the document, from 1; the nearest comes first.", int),
            "id": Column("Id of the document, or of the passage if documents were split."),
            "document": Column(
                "If documents were split: the document of this passage. Of each document, only its "
                "nearest passage is listed."
            ),
            "place": Column("Place of the passage in its document, from 1.", int),
            "share": Column("Share of the group in this document.", float),
            "title": Column("Title of the document."),
            "date": Column("Date of the document."),
            "labels": Column("Labels of the document, each with its column if there are several."),
            "cosine": Column("Cosine of the document with the prototype.", float),
            "text": Column("Beginning of the document; empty if there are no texts."),
        },
    ),
    "contrast": TableSchema(
        "tables/contrast.csv",
        "For embeddings with texts: the characteristic words of the texts of each group.",
        {
            "group": Column(GROUP, int),
            "rank": Column("Rank of the word, from 1, by score; z up to 2 comes last.", int),
            "word": Column("The word."),
            "score": Column(
                "How characteristic the word is: its weight to the power 1.5 in the mean tf-idf "
                "direction of the texts of the group, times the share of the word that is here.",
                float,
            ),
            "z": Column(
                "Standardised log-odds ratio of frequencies; above 2 it is hardly due to chance.",
                float,
            ),
            "count": Column("Number of occurrences in the group.", int),
            "share": Column("Share of all occurrences that are in the group.", float),
        },
    ),
    "dense": TableSchema(
        "tables/dense.csv",
        "Mixtures without penalty, one row for each number of groups that was tried.",
        {
            "n_groups": Column("Number of groups.", int),
            "log_likelihood": Column("Log-likelihood of all documents.", float),
            "n_nonzero": Column("Non-zero coordinates of the prototypes.", int),
            "n_converged": Column("Number of starts that converged.", int),
            "agreement": Column(
                "Mean adjusted Rand index of the other starts with the best one: 1 where all "
                "give the same groups; nan with one start.",
                float,
            ),
            **CRITERION_COLUMNS,
        },
    ),
    "advice": TableSchema(
        "tables/advice.csv",
        "The evidence for each number of groups that was tried.",
        {
            "n_groups": Column("Number of groups.", int),
            "agreement": Column(
                "Mean adjusted Rand index of the groups that halves of the documents give to all "
                "documents: 1 where they are always the same, 0 by chance.",
                float,
            ),
            "score": Column(
                "The column agreement, plus a little for detail (.055 for twice as many groups). "
                "The number shown has the largest score from 3 groups on.",
                float,
            ),
            "stability": Column(
                "Mean over the documents of the similarity of their group with the most similar "
                "group of a half: documents in both, as a share of those in either.",
                float,
            ),
            "coming_back": Column(
                "Share of the documents in groups that come back: with a mean similarity of .5 or "
                "more.",
                float,
            ),
            "n_coming_back": Column("Number of these groups.", int),
            "largest": Column("Share of the documents in the largest group.", float),
            "level": Column(
                "fine: the number shown; broad: fewer groups that are more stable; finest: the "
                "largest number at which 90 % of the documents are in groups that come back."
            ),
        },
    ),
    "tree": TableSchema(
        "tables/tree.csv",
        "The groups divided into fine groups and merged to one: one row for each node of the "
        "tree. The fine groups come first, then the merges in their order.",
        {
            "node": Column("Number of the node, from 0.", int),
            "parent": Column("The node that it is a part of; empty for all documents.", int),
            "height": Column(
                "What the merge of its two parts loses of the log-likelihood, in nats, or the "
                "largest loss of a merge before it; 0 for fine groups.",
                float,
            ),
            "size": Column("Number of documents.", int),
            "n_fine_groups": Column("Number of fine groups in it.", int),
            "group": Column("The group it lies in; empty if it has several.", int),
            "chosen": Column("1 if it is this group, else 0.", int),
            "name": Column(
                "Name of the group, or up to three words that tell the node from the other part "
                "of its parent."
            ),
            "words": Column("The 20 most characteristic words against all other documents."),
            "sibling_words": Column(
                "The 20 most characteristic words against the other part of its parent."
            ),
            "only_here_words": Column(
                f"The first 20 words that at least {100 * ONLY_HERE_SHARE:.0f} % of its documents "
                f"contain and hardly any other document: {100 * NEARLY_ALL:.0f} % of the documents "
                "with the word are here."
            ),
        },
    ),
    "levels": TableSchema(
        "tables/levels.csv",
        "If levels were asked for: the groups of each level, the broadest first, each with the "
        "broader group that it lies in.",
        {
            "level": Column("Number of groups of the level.", int),
            "node": Column("The group as a node of tables/tree.csv.", int),
            "group": Column("Number of the group, if it is one of groups.csv.", int),
            "name": Column("Name of the group, or what tells it from the node beside it."),
            "parent": Column(
                "The group of the level above that it lies in; empty for the broadest.", int
            ),
            "parent_name": Column("Name of this group."),
            "size": Column("Number of documents, or of passages if documents were split.", int),
            "words": Column("The 20 most characteristic words against all other documents."),
        },
    ),
    "effects": TableSchema(
        "tables/effects.csv",
        "If effects were asked for: the share of each group at each value of a column, and its "
        "differences between values, with 95 % intervals from 200 draws of the documents; with "
        "several columns, the others held. Empty for groups that are not stable.",
        {
            "column": Column("The column of the documents."),
            "value": Column("A label, or a number or date of a curve."),
            "other": Column(
                "In the rows of differences: the value that is compared with. Every two labels are "
                "compared, or of more than five each with the most frequent one; of a curve, its "
                "ends."
            ),
            "n_documents": Column("Documents with this label, or nearest to this value.", int),
            "group": Column(GROUP, int),
            "name": Column("Name of the group."),
            "share": Column(
                "Its share in the documents of this value; empty in the rows of differences.", float
            ),
            "difference": Column("Its share at the value less that at the other one.", float),
            "low": Column("Lower end of the interval of the share or the difference.", float),
            "high": Column("Upper end of this interval.", float),
        },
    ),
    "path": TableSchema(
        "tables/path.csv",
        "The steps of the path, from dense prototypes to sparse ones. If the run is relaxed, as it "
        "is by default, all columns but beta are about the refits of the steps.",
        {
            "step": Column("Number of the step, from 0.", int),
            "beta": Column("The penalty, beta.", float),
            "n_nonzero": Column("Non-zero coordinates of the prototypes.", int),
            "sparsity": Column("Share of zeros among all coordinates of the prototypes.", float),
            "log_likelihood": Column(
                "Log-likelihood of all documents, without the penalty.", float
            ),
            **CRITERION_COLUMNS,
            "n_iter": Column("Number of iterations of EM.", int),
            "status": Column("How EM ended."),
            "selected": Column("1 for the step that was chosen, else 0.", int),
        },
    ),
    "removed_words": TableSchema(
        "tables/removed_words.csv",
        "Words of the documents that were left out. The stop words of the language are not listed.",
        {
            "word": Column("The word, or the phrase."),
            "documents": Column("Number of documents that have it; 0 if none has it.", int),
            "reason": Column(
                "common: in more documents than max_df allows. rare: in fewer documents than "
                "min_df asks for, or written fewer times than min_count. stop word: of the given "
                "file. dropped: as asked. edit: dropped by an edit. mixed: of digits and letters, "
                f"left out as asked. Of rare and of mixed words, the {MOST_LISTED:,} that most "
                "documents have are listed."
            ),
        },
    ),
    "labels": TableSchema(
        "tables/labels.csv",
        "Groups compared with the labels. Labels are never used to make groups.",
        {
            "label_column": Column("Column of the input that the label is from."),
            "group": Column(GROUP, int),
            "label": Column("The label."),
            "documents": Column(
                "Number of documents of the group that have the label; if documents were split, "
                "the sum of their shares.",
                float,
            ),
            "share_of_group": Column(
                "These documents as a share of all documents of the group.", float
            ),
            "share_of_label": Column(
                "These documents as a share of all documents with the label.", float
            ),
        },
    ),
    "time": TableSchema(
        "tables/time.csv",
        "Groups by month, or by year if there are more than 60 months or dates are years only.",
        {
            "group": Column(GROUP, int),
            "period": Column("Month or year, as 2024-05 or 2024."),
            "documents": Column(
                "Number of documents of the group in this period; if documents were split, the "
                "sum of their shares.",
                float,
            ),
            "all_documents": Column("Documents of all groups in this period.", int),
            "share": Column(
                "Share of the group in these documents; empty if there are none.", float
            ),
            "low": Column(
                "Lower end of the 95 % interval of the share, by the number of documents and how "
                "they differ; the groups are held.",
                float,
            ),
            "high": Column("Upper end of this interval.", float),
            "peak": Column(
                "1 for the period of each group whose lower end is the highest: its peak, not "
                "by a few documents alone; else 0.",
                int,
            ),
        },
    ),
}
_OF_DOCUMENTS = TABLES["documents"].columns
# Columns of documents.csv that only documents have that were split.
OF_SHARES = {
    "passages",
    *(name for name in _OF_DOCUMENTS if name.endswith("share")),
    *("second_name", "third_group", "third_name", "broad_name"),
}
TABLES |= {
    "passages": TableSchema(
        "tables/passages.csv",
        "If documents were split: one row for each passage. Groups are found among passages, and "
        "what is said of documents in the columns below, in the other tables and in report.html is "
        "said of passages, except in documents.csv, shares.csv, labels.csv and time.csv. The "
        "samples of stability and advice have whole documents, with all of their passages.",
        {
            "id": Column("Id of the passage: that of its document, #, and its place."),
            "document": Column("Id of the document that it is of."),
            "place": Column("Place of the passage in its document, from 1.", int),
            **{
                name: column
                for name, column in _OF_DOCUMENTS.items()
                if name not in {"id", "language", *OF_SHARES}
            },
        },
    ),
    "shares": TableSchema(
        "tables/shares.csv",
        "If documents were split: one row for each document, in the order of the file, with the "
        "share of each group. The shares of the groups sum to one; they are empty if no passage of "
        "the document has a group.",
        {"id": Column("Id of the document.")},
        others="group_0, group_1, ...: share of the group in the document, the mean of the "
        "probabilities of its passages, weighted by their words. node_0, ...: share of a broader "
        "group, a node of tables/tree.csv, the sum of those of its groups; only where levels were "
        "asked for, or fewer groups are more stable.",
    ),
}
# Columns of documents.csv that documents assigned later do not have.
OF_THE_RUN = (
    "broad_group",
    "fine_group",
    "certainty",
    "stability",
    "label_probability",
    "language",
    "x",
    "y",
    "note",
    "misplaced",
)

# Columns of the input in documents.csv: labels and metadata, under names of their own.
OURS = frozenset(TABLES["documents"].columns)
ANOTHER = "_input"  # the end of a name that a column of ours has already


def input_columns(corpus: Corpus) -> dict[str, list[str | None]]:
    """Return the columns of the input that follow ours: labels first, then the others.

    Several labels of a document are separated by semicolons; numbers, lists and objects are written
    as JSON, with all their digits.
    """
    found: list[list[str | None]]
    found = [[write_labels(one) for one in column] for column in corpus.labels.values()]
    found += [[_written(one) for one in column] for column in corpus.metadata.values()]
    return dict(zip(_names(corpus), found, strict=True))


def renamed_columns(corpus: Corpus) -> list[str]:
    """Say which columns of the input have another name in documents.csv."""
    both = zip((*corpus.labels, *corpus.metadata), _names(corpus), strict=True)
    return [
        f"Column {shown(name)} is called {shown(written)} in documents.csv, which has a column of "
        "that name already."
        for name, written in both
        if name != written
    ]


def _names(corpus: Corpus) -> list[str]:
    """Return each column its name, or one with an end where the name is taken."""
    given = {*corpus.labels, *corpus.metadata}
    taken = set(OURS)
    names = []
    for name in (*corpus.labels, *corpus.metadata):
        written = name
        while written in taken or (written != name and written in given):
            written += ANOTHER
        taken.add(written)
        names.append(written)
    return names


def _written(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
