"""Options of an exploration, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spheremix.estimators.validation import require_integer, require_number
from spheremix.select import CRITERIA

LARGEST = 20  # clusters tried unless more are asked for
LEAST = 4  # different documents among which to look for clusters
KEPT_OUT = {"threads", "checkpoint"}  # they change no digit
MOST_CANDIDATES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What an exploration was asked to do; None leaves a choice to the pipeline."""

    text: str | None = None
    id: str | None = None
    date: str | None = None
    label: str | None = None
    vocabulary: str | None = None
    language: str | None = None
    lemmatizer: str | None = None
    min_count: int | None = None
    min_df: float | None = None
    max_df: float | None = None
    weighting: str | None = None
    k: str | None = None
    seed: int = 0
    criterion: str = "bic"
    k_criterion: str = "ebic"
    kappa: str | float = "shared"
    starts: int = 10
    min_relative_increase: float = 0.01
    max_steps: int = 1000
    threads: int | None = None
    checkpoint: float = 3.0

    def __post_init__(self) -> None:
        for name in ("criterion", "k_criterion"):
            if getattr(self, name) not in CRITERIA:
                raise ValueError(
                    f"--{name.replace('_', '-')} must be one of {', '.join(CRITERIA)}; got "
                    f"{getattr(self, name)!r}."
                )
        require_integer("--starts", self.starts, 1)
        require_integer("--max-steps", self.max_steps, 1)
        require_integer("--seed", self.seed, 0)
        require_number("--min-relative-increase", self.min_relative_increase)
        require_number("--checkpoint", self.checkpoint)
        if not isinstance(self.kappa, str):
            require_number("--kappa", self.kappa, above=0.0)
        if self.threads is not None:
            require_integer("--threads", self.threads, 1)
        if self.k is not None:
            parse_k(self.k)

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

    def candidates(self, n: int, n_distinct: int) -> list[int]:
        """Give the numbers of clusters to try on n documents, some of which may be the same."""
        there = f"{n:,} document{'s' if n > 1 else ''} with words"
        if n_distinct < n:
            there += ", all the same" if n_distinct == 1 else f", only {n_distinct:,} different"
        if self.k is not None:
            numbers = parse_k(self.k)
            if numbers[-1] > n_distinct:
                raise ValueError(
                    f"{numbers[-1]} clusters are too many: there are {there}. Lower --k to "
                    f"{n_distinct} at most."
                )
            return numbers
        if n_distinct < LEAST:
            raise ValueError(
                f"There are {there}: at least {LEAST} are needed to look for clusters (or say how "
                "many clusters with --k)."
            )
        return list(range(2, max(2, min(LARGEST, int(n**0.4), n_distinct // 2)) + 1))


def parse_k(text: str) -> list[int]:
    """Read numbers of clusters: "5", "2:20" (both included) or "2,4,8"."""
    try:
        if ":" in text:
            first, _, last = text.partition(":")
            numbers = list(range(int(first), min(int(last), int(first) + MOST_CANDIDATES) + 1))
        else:
            numbers = sorted({int(part) for part in text.split(",")})
    except ValueError:
        numbers = []
    if not numbers or numbers[0] < 1 or len(numbers) > MOST_CANDIDATES:
        raise ValueError(f"--k must be a number, as 5, or a range, as 2:20; got {text!r}.")
    return numbers


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
        return float(text)
    except ValueError:
        raise ValueError(f"--kappa must be shared, free or a number; got {text!r}.") from None
