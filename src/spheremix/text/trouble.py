"""Trouble in texts: what looks wrong is named, and mended only where that is asked for."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from spheremix.errors import Message, MissingPackageError
from spheremix.text.corpus import shown
from spheremix.text.languages import BEGINNING, LOOKED_AT, language_of
from spheremix.text.stopwords import WORDS
from spheremix.text.words import is_mixed
from spheremix.wording import count, install

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


def trouble(
    texts: Sequence[str], words: Iterable[str], languages: Sequence[str], *, mended: bool = False
) -> list[Message]:
    """Say what looks wrong in texts, a message each.

    ``words`` are those that were kept; ``mended`` says that the texts were decoded again.
    """
    sample = texts[:: max(1, -(-len(texts) // LOOKED_AT))]  # evenly spread
    found = [
        None if mended else _mojibake(texts),
        _mixed(words),
        _joined(sample),
        foreign(sample, languages),
    ]
    return [message for message in found if message is not None]


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


def _message(text: str, *remedies: str, **values: int | str) -> Message:
    shown_as = {k: v if isinstance(v, str) else f"{v:,}" for k, v in values.items()}
    return Message(text, shown_as, remedies)


def _mojibake(texts: Sequence[str]) -> Message | None:
    examples: Counter[str] = Counter()
    n = 0
    for text in texts:
        if not text.isascii() and (found := MOJIBAKE.findall(text)):
            examples.update(found)
            n += 1
    if n < max(2, DECODED * len(texts)):
        return None
    return _message(
        "Text seems to be decoded wrongly in {n} of {all} documents ({examples})",
        "mend it with {mend_encoding=True}",
        n=n,
        all=len(texts),
        examples=", ".join(shown(one) for one, _ in examples.most_common(NAMED)),
    )


def _mixed(words: Iterable[str]) -> Message | None:
    every = list(words)
    mixed = [word for word in every if is_mixed(word)]
    if len(mixed) < max(FEWEST, MIXED_SHARE * len(every)):
        return None
    return _message(
        "{n} of {all} words mix digits and letters (as {first})",
        "leave them out with {drop_mixed=True}",
        n=len(mixed),
        all=len(every),
        first=", ".join(mixed[:: max(1, len(mixed) // NAMED)][:NAMED]),
    )


def _joined(texts: Sequence[str]) -> Message | None:
    """Find words that ran together: names such as YouTube are written so by several documents."""
    found = [{*JOINED.findall(text[:BEGINNING])} for text in texts]
    documents = Counter(word for words in found for word in words)
    once = [sorted(word for word in words if documents[word] == 1) for words in found]
    n = sum(map(bool, once))
    if n < max(FEWEST, JOINED_SHARE * len(texts)):
        return None
    examples = [words[0] for words in once if words][:NAMED]
    return _message(
        "Words seem to run together in {n} of {all} documents that were looked at (as {examples}): "
        "see how the texts were made",
        n=n,
        all=len(texts),
        examples=", ".join(examples),
    )


def foreign(texts: Sequence[str], languages: Sequence[str]) -> Message | None:
    """Say how many texts seem to be in another language, by the shares of stop words of each."""
    if not any(code in WORDS for code in languages):
        return None  # nothing to compare with
    found = Counter(code for code in map(language_of, texts) if code is not None)
    others = Counter({code: n for code, n in found.items() if code not in languages})
    n = others.total()
    if n < FOREIGN_SHARE * len(texts) or not n:
        return None
    best = others.most_common(1)[0][0]
    both = best if 2 * n > len(texts) else ",".join([*languages, best])
    return _message(
        "{n} of {all} documents that were looked at seem to be in another language than {said} "
        "({which})",
        f"say so with {{language={both}}}",
        n=n,
        all=len(texts),
        said=",".join(languages),
        which=", ".join(f"{k:,} in {code}" for code, k in others.most_common(NAMED)),
    )
