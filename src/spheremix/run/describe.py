"""What somebody needs who names clusters: words, typical documents and labels, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spheremix.run.tables import all_clusters, label_columns, typical_columns

if TYPE_CHECKING:
    from spheremix.reading import Reading
    from spheremix.reading.words import Word
    from spheremix.run.prepare import Material

LISTED = 20  # words of each kind
QUOTED = 500  # characters of a typical document


def describe_clusters(
    reading: Reading, material: Material, fit: str | None
) -> list[dict[str, Any]]:
    """Describe each cluster, by its number, in values that JSON can say.

    Parameters
    ----------
    reading : Reading
        The clusters.
    material : Material
        Their documents.
    fit : str or None
        What the numbers of the clusters belong to.
    """
    documents = reading.documents(material.X)
    typical = _by_cluster(typical_columns(reading, documents, material, most=QUOTED))
    labels, labelled = material.source.labels, {}
    if labels:
        clusters = all_clusters(documents.labels, material)
        labelled = _by_cluster(label_columns(clusters, labels, reading.n_groups))
    words = reading.vocabulary
    return [
        {
            "cluster": one.group,
            "fit": fit,
            "size": one.size,
            "name": one.name,
            "words": list(one.contrast_words) or _plain(words.words(one.group, LISTED)),
            "only_here": [] if one.contrast_words else _plain(list(one.only_here_words)),
            "typical": typical.get(one.group, []),
            "labels": labelled.get(one.group, []),
        }
        for one in sorted(reading.groups(n_listed=LISTED), key=lambda one: one.group)
    ]


def _plain(words: list[Word]) -> list[dict[str, Any]]:
    return [{"word": one.word, "weight": float(one.weight)} for one in words]


def _by_cluster(columns: dict[str, Any]) -> dict[int, list[dict[str, Any]]]:
    """Return the rows of a table by the cluster that they are about."""
    found: dict[int, list[dict[str, Any]]] = {}
    for row in zip(*columns.values(), strict=True):
        values = [getattr(value, "item", lambda value=value: value)() for value in row]
        record = dict(zip(columns, values, strict=True))
        found.setdefault(int(record.pop("cluster")), []).append(record)
    return found
