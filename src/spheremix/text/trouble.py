"""Trouble in texts: what looks wrong is named, and mended only where that is asked for."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.errors import Message, MissingPackageError
from spheremix.text.corpus import shown
from spheremix.text.languages import BEGINNING, LOOKED_AT, NAMES, language_of
from spheremix.text.stopwords import WORDS
from spheremix.text.words import is_mixed
from spheremix.wording import count, install, joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spheremix.text.corpus import Corpus

# UTF-8 that was read as Windows-1252 or Latin-1: an accent or a quotation mark became two or three
# characters, of which the second one is never the second letter of a word.
SECOND = "\x80-\xbf\u20ac\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u2039\u2018\u2019\u201c"
MOJIBAKE = re.compile(f"[\u00c2\u00c3][{SECOND}]|\u00e2[\x80\u20ac]|\u00ef\u00bb\u00bf")
JOINED = re.compile(r"\b[a-z]{3,}[A-Z][a-z]{2,}\b")  # "pricesThe", and not "ClassName"

DECODED = 0.001  # share of the documents with signs of wrong decoding, and two of them
FEWEST = 10  # documents, below which nothing is said
MIXED_SHARE = 0.02  # of the words
JOINED_SHARE = 0.05  # of the documents that were looked at
FOREIGN_SHARE = 0.05  # of the documents that were looked at
NAMED = 3  # examples


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What looks wrong in texts, and where."""

    message: Message
    documents: list[int]  # positions of those that have it
    looked_at: int = 1  # every document of so many was looked at


def trouble(
    texts: Sequence[str],
    words: Iterable[str],
    languages: Sequence[str],
    counts: Any = None,
    *,
    mended: bool = False,
) -> list[Trouble]:
    """Say what looks wrong in texts, and in which of them.

    ``words`` are those that were kept, and ``counts`` the CSR matrix with a row for each text;
    ``mended`` says that the texts were decoded again.
    """
    step = max(1, -(-len(texts) // LOOKED_AT))  # evenly spread
    sample = texts[::step]
    found = [
        (None if mended else _mojibake(texts), 1),
        (_mixed(list(words), counts), 1),
        (_joined(sample), step),
        (foreign(sample, languages), step),
    ]
    return [
        replace(one, documents=[step * i for i in one.documents], looked_at=step)
        for one, step in found
        if one is not None
    ]


def mend(corpus: Corpus) -> Corpus:
    """Return a corpus whose wrongly decoded texts are decoded again, with a note on them."""
    texts, n = decoded_again(corpus.texts)
    said = f"Text was decoded again in {count(n, 'document')}."
    return replace(corpus, texts=texts, notes=[*corpus.notes, said])


def decoded_again(texts: Iterable[str]) -> tuple[list[str], int]:
    """Decode texts again where they were decoded wrongly; return also how many were changed."""
    try:
        fix = importlib.import_module("ftfy").fix_encoding
    except ImportError:
        raise MissingPackageError(
            "{mend_encoding=True} needs the package ftfy",
            remedies=(install("ftfy"),),
        ) from None
    pairs = [(text, fix(text) if MOJIBAKE.search(text) else text) for text in texts]
    return [new for _, new in pairs], sum(new != old for old, new in pairs)


def _found(text: str, documents: list[int], *remedies: str, **values: int | str) -> Trouble:
    shown_as = {k: v if isinstance(v, str) else f"{v:,}" for k, v in values.items()}
    return Trouble(message=Message(text, shown_as, remedies), documents=documents)


def _mojibake(texts: Sequence[str]) -> Trouble | None:
    examples: Counter[str] = Counter()
    having = []
    for i, text in enumerate(texts):
        if not text.isascii() and (found := MOJIBAKE.findall(text)):
            examples.update(found)
            having.append(i)
    if len(having) < max(2, DECODED * len(texts)):
        return None
    return _found(
        "Text seems to be decoded wrongly in {n} of {all} documents ({examples})",
        having,
        "mend it with {mend_encoding=True}",
        n=len(having),
        all=len(texts),
        examples=", ".join(shown(one) for one, _ in examples.most_common(NAMED)),
    )


def _mixed(every: list[str], counts: Any) -> Trouble | None:
    places = [j for j, word in enumerate(every) if is_mixed(word)]
    mixed = [every[j] for j in places]
    if len(mixed) < max(FEWEST, MIXED_SHARE * len(every)):
        return None
    having = [] if counts is None else np.diff(counts[:, places].indptr).nonzero()[0].tolist()
    return _found(
        "{n} of {all} words mix digits and letters (as {first})",
        having,
        "leave them out with {drop_mixed=True}",
        n=len(mixed),
        all=len(every),
        first=", ".join(mixed[:: max(1, len(mixed) // NAMED)][:NAMED]),
    )


def _joined(texts: Sequence[str]) -> Trouble | None:
    """Find words that ran together: names such as YouTube are written so by several documents."""
    found = [{*JOINED.findall(text[:BEGINNING])} for text in texts]
    documents = Counter(word for words in found for word in words)
    once = [sorted(word for word in words if documents[word] == 1) for words in found]
    having = [i for i, words in enumerate(once) if words]
    if len(having) < max(FEWEST, JOINED_SHARE * len(texts)):
        return None
    examples = [words[0] for words in once if words][:NAMED]
    return _found(
        "Words seem to run together in {n} of {all} documents that were looked at (as {examples})",
        having,
        "see how the texts were made",
        n=len(having),
        all=len(texts),
        examples=", ".join(examples),
    )


def foreign(texts: Sequence[str], languages: Sequence[str]) -> Trouble | None:
    """Say how many texts seem to be in another language, by the shares of stop words of each."""
    if not any(code in WORDS for code in languages):
        return None  # nothing to compare with
    codes = enumerate(map(language_of, texts))
    found = {i: code for i, code in codes if code is not None and code not in languages}
    others, n = Counter(found.values()), len(found)
    if n < FOREIGN_SHARE * len(texts) or not n:
        return None
    best = others.most_common(1)[0][0]
    both = best if 2 * n > len(texts) else ",".join([*languages, best])
    return _found(
        "{n} of {all} documents that were looked at seem to be in another language than {said} "
        "({which})",
        list(found),
        f"say so with {{language={both}}}",
        n=n,
        all=len(texts),
        said=joined([NAMES.get(code, code) for code in languages]),
        which=", ".join(f"{k:,} in {NAMES[code]}" for code, k in others.most_common(NAMED)),
    )
