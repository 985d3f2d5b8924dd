"""Options of an exploration, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from spheremix.estimators.validation import require_integer, require_number
from spheremix.select import CRITERIA
from spheremix.text import TextVectorizer
from spheremix.text.corpus import count
from spheremix.text.vectorizer import WEIGHTINGS

LARGEST = 20  # clusters tried unless more are asked for
LEAST = 4  # different documents among which to look for clusters
# They change no digit, or name a file whose content is compared.
KEPT_OUT = {"threads", "checkpoint", "vocabulary", "texts"}
LEMMATIZERS = ("simplemma", "none")
DENSE = "none"  # the criterion that keeps the mixture without penalty
MOST_CANDIDATES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What an exploration was asked to do; None leaves a choice to the pipeline."""

    text: str | None = None
    id: str | None = None
    date: str | None = None
    label: str | None = None
    vocabulary: str | None = None
    texts: str | None = None
    language: str | None = None
    lemmatizer: str | None = None
    min_count: int | None = None
    min_df: float | None = None
    max_df: float | None = None
    weighting: str | None = None
    k: str | None = None
    seed: int = 0
    criterion: str | None = None
    k_criterion: str = "ebic"
    kappa: str | float = "shared"
    starts: int = 10
    min_relative_increase: float = 0.01
    max_steps: int = 1000
    threads: int | None = None
    checkpoint: float = 3.0

    def __post_init__(self) -> None:
        for name, choices in (
            ("criterion", (None, *CRITERIA, DENSE)),
            ("k_criterion", CRITERIA),
            ("weighting", (None, *WEIGHTINGS)),
            ("lemmatizer", (None, *LEMMATIZERS)),
        ):
            if getattr(self, name) not in choices:
                raise ValueError(
                    f"--{name.replace('_', '-')} must be one of {', '.join(filter(None, choices))};"
                    f" got {getattr(self, name)!r}."
                )
        require_integer("--starts", self.starts, 1)
        require_integer("--max-steps", self.max_steps, 1)
        require_integer("--seed", self.seed, 0)
        require_number("--min-relative-increase", self.min_relative_increase)
        require_number("--checkpoint", self.checkpoint)
        if self.threads is not None:
            require_integer("--threads", self.threads, 1)
        if self.k is not None:
            parse_k(self.k)

    def completed(self, *, words: bool) -> Options:
        """Choose how sparse prototypes are by whether their columns are words.

        Zeros of embeddings depend on the axes, which mean nothing: there the penalty is left out.
        """
        return replace(self, criterion=self.criterion or ("bic" if words else DENSE))

    def command(self) -> dict[str, Any]:
        """Give the options that the result depends on."""
        return {
            name: getattr(self, name) for name in self.__dataclass_fields__ if name not in KEPT_OUT
        }

    def columns(self) -> dict[str, Any]:
        """Give the columns to read; "none" stands for none."""
        names = {"text": self.text, "id": self.id, "date": self.date, "label": self.label}
        return {part: False if name == "none" else name for part, name in names.items()}

    def vectorizer(self) -> dict[str, Any]:
        """Give the parameters of the vectoriser."""
        return {
            "language": self.language or "en",
            "lemmatizer": self.lemmatizer or "simplemma",
            "min_count": self.min_count,
            "min_df": self.min_df,
            "max_df": self.max_df,
            "weighting": self.weighting or "sublinear-tfidf",
        }

    def check_words(self) -> None:
        """Refuse options from texts to words before a large file is read."""
        TextVectorizer(**self.vectorizer()).check_parameters()

    def candidates(self, n: int, n_distinct: int) -> list[int]:
        """Give the numbers of clusters to try on n documents, some of which may be the same."""
        there = f"{'is' if n == 1 else 'are'} {count(n, 'document')} with words"
        if n_distinct < n:
            there += ", all the same" if n_distinct == 1 else f", only {n_distinct:,} different"
        if self.k is not None:
            numbers = parse_k(self.k)
            if numbers[-1] > n_distinct:
                raise ValueError(
                    f"{numbers[-1]} clusters are too many: there {there}. Lower --k to "
                    f"{n_distinct} at most."
                )
            return numbers
        if n_distinct < LEAST:
            raise ValueError(
                f"There {there}: at least {LEAST} are needed to look for clusters (or say how "
                "many clusters with --k)."
            )
        return list(range(2, max(2, min(LARGEST, int(n**0.4), n_distinct // 2)) + 1))


def parse_k(text: str) -> list[int]:
    """Read numbers of clusters: "5", "2:20" (both included) or "2,4,8"."""
    first, colon, last = text.partition(":")
    try:
        ends = [int(first), int(last)] if colon else [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"--k must be a number of clusters, as 5, a range, as 2:20, or several, as 2,4,8; got "
            f"{text!r}."
        ) from None
    if min(ends) < 1:
        raise ValueError(f"--k must be 1 or more: {min(ends)} clusters cannot be; got {text!r}.")
    if not colon:
        return sorted(set(ends))
    if ends[0] > ends[1]:
        raise ValueError(f"--k must be a range that goes up, as {ends[1]}:{ends[0]}; got {text!r}.")
    if ends[1] - ends[0] >= MOST_CANDIDATES:
        raise ValueError(f"--k must have {MOST_CANDIDATES:,} numbers at most; got {text!r}.")
    return list(range(ends[0], ends[1] + 1))


def parse_df(name: str, text: str | None) -> float | None:
    """Read a number of documents ("5") or a share of them ("0.5", "50%")."""
    if text is None:
        return None
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100.0
        return float(text) if "." in text else int(text)
    except ValueError:
        raise ValueError(
            f"{name} must be a number of documents, as 5, or a share, as 0.5; got {text!r}."
        ) from None


def parse_kappa(text: str) -> str | float:
    """Read "shared", "free" or a number."""
    if text in {"shared", "free"}:
        return text
    try:
        kappa = float(text)
    except ValueError:
        kappa = math.nan
    if not 0.0 < kappa < math.inf:
        raise ValueError(f"--kappa must be shared, free or a number above 0, as 100; got {text!r}.")
    return kappa
