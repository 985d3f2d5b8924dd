"""The options of an exploration: each one once, with its default, its meaning and its checks.

``explore_corpus`` takes them by keyword and the command ``spheremix explore`` as options; both read
this description.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from numbers import Integral, Real
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from spheremix.errors import ParameterError
from spheremix.wording import count

LARGEST = 20  # groups tried unless more are asked for
LEAST = 4  # different documents among which to look for groups
ADVICE = "advice"  # the number of groups by several kinds of evidence
DENSE = "none"  # the criterion that keeps the mixture without penalty
AUTO = "auto"
FREE = "free"
MOST_CANDIDATES = 1000
INCREASE = 0.05  # of the penalty from step to step of the path
MANY, INCREASE_OF_MANY = 50_000, 0.15  # documents: a third as many steps, which take longer each

DOCUMENTS, EXCERPT = 5, 300  # typical documents of a group that are sent; characters of each

COLUMNS = "Columns of the file"
FILES = "Folders of text files"
WORDS = "From texts to words"
MODEL = "Groups and sparsity"
RUNNING = "Running"


def option(
    default: Any, panel: str, meaning: str, *, found: str = "", changes_result: bool = True
) -> Any:
    """Declare an option, under a heading of the help of the command; None leaves the choice open.

    ``meaning`` has other options in braces, as in :mod:`spheremix.errors`; ``found`` is how the
    value is found where it is not given. What changes no digit, or names a file whose content is
    compared, has ``changes_result=False``.
    """
    about = {"panel": panel, "meaning": meaning, "found": found, "changes_result": changes_result}
    return dataclasses.field(default=default, metadata=about)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOptions:
    """What an exploration is asked to do; None leaves a choice to the exploration.

    Examples
    --------
    >>> from spheremix.run.options import ExploreOptions
    >>> ExploreOptions(k="2:4").k
    (2, 3, 4)
    """

    text: str | None = option(None, COLUMNS, "Column of the texts; guessed where obvious.")
    id: str | None = option(
        None,
        COLUMNS,
        "Column of the ids, guessed where obvious; `none` leaves it out. The id of a text file is "
        "its path.",
    )
    title: str | None = option(
        None,
        COLUMNS,
        "Column of the titles, by which documents are listed, guessed where obvious; `none` leaves "
        "it out. The title of a text file is its name.",
    )
    date: str | None = option(
        None,
        COLUMNS,
        "Column of the dates: days (2021-03-04), months (2021-03) or years (2021). Guessed where "
        "obvious; `none` leaves it out.",
    )
    date_format: str | None = option(
        None,
        COLUMNS,
        "How the dates of the column are written: `%d.%m.%Y` reads 04.03.2021, and `%d %B %Y` "
        "reads 4 March 2021. Needed where day and month can be exchanged in all of them.",
        found="the usual form that fits all dates",
    )
    label: Any = option(
        None,
        COLUMNS,
        "Column of the labels, such as a party or a section; for several columns repeat the "
        "option: `{label} party {label} speaker`. Guessed where obvious; `none` leaves it out. "
        "Labels are compared with the groups and never used to find them.",
    )
    sheet: str | None = option(
        None,
        COLUMNS,
        "Sheet of a workbook (.xlsx).",
        found="the first one, if there are several",
    )
    header: str | None = option(
        None,
        COLUMNS,
        "Whether the first row of a CSV file or a sheet has the names of the columns: `yes` or "
        "`no`.",
        found="by what is below it",
    )
    date_from: str | None = option(
        None,
        FILES,
        "Where to find the date of each file. `name`: in its name, as 2021-03-04, 20210304, "
        "2021_03 or 2021. `folder`: in the names of its folders. If dates are written in another "
        "way, say how: `%d.%m.%Y` reads 04.03.2021, and `%d %B %Y` reads 4 March 2021.",
        found="name, if every file has a day in its name",
    )
    label_from: str | None = option(
        None,
        FILES,
        "Where to find the labels of each file. `folder`: the label is the sub-folder; "
        "`'{{company}}/*'` does the same and calls it company. If labels "
        "are in the names of the files, say how the names are made: "
        "`'{{party}}_{{speaker}}_*'` gives SPD_Schmidt_2021.txt the labels party = SPD and speaker "
        "= Schmidt; the star stands for any text.",
        found="folder, if every file is in a sub-folder",
    )
    metadata: str | None = option(
        None,
        FILES,
        "Table (CSV, TSV, JSON lines, Parquet or Excel) with one row for each file. The column "
        "with the file names is found by itself, or named with `{id}`; `{date}`, `{label}` and "
        "`{title}` name its other columns. All of them are copied to documents.csv.",
        changes_result=False,
    )
    vocabulary: str | None = option(
        None,
        COLUMNS,
        "File with the words of the columns of a matrix, one a line.",
        changes_result=False,
    )
    texts: str | None = option(
        None,
        COLUMNS,
        "Documents that belong to the rows of a matrix, one a row: they give words, ids, dates and "
        "labels.",
        changes_result=False,
    )
    meaning: Any = option(
        None,
        WORDS,
        "What the texts mean, beside their words. `static`: word vectors for English, which need "
        "the package wordllama and no network; the folder or the name of a model of "
        "sentence-transformers or model2vec; a file .npy with a row for each document; `none`: "
        "words alone.",
        found="static for 200 short English texts or more, else none",
        changes_result=False,
    )
    meaning_only: bool = option(
        default=False,
        panel=WORDS,
        meaning="With embeddings and their {texts}, group by the embeddings alone.",
        changes_result=False,
    )
    split: Any = option(
        None,
        WORDS,
        "Splits documents into passages, so that each can be about several groups. `auto`: "
        "documents of more than 800 words, into passages of about 80, if a tenth of all documents "
        "or more are so long; a number, as 80: all documents, into passages of about so many "
        "words; `paragraphs` or `sentences`: all documents, into these; `none`: none. Groups are "
        "then groups of passages, and documents have a share of each group.",
        found="auto; none for a matrix",
    )
    language: str | None = option(
        None,
        WORDS,
        "Language, as `en`, or several, as `en,fr`: each text is without its own stop words.",
        found="by the stop words that the texts have; en where they say nothing",
    )
    lemmatizer: str | None = option(None, WORDS, "simplemma or none.", found="simplemma")
    stop_words: Any = option(
        None,
        WORDS,
        "File of words to leave out, with all of their forms, one a line. The stop words of the "
        "language are left out in any case.",
    )
    drop: Any = option(
        None, WORDS, "Words to leave out, with all of their forms, as said,mr,press release."
    )
    ngrams: int | None = option(
        None,
        WORDS,
        "Words of a phrase, at most. With 2, neighbours that go together, as interest rate, are "
        "one word: their normalised pointwise mutual information is 0.5 or more.",
        found="1",
    )
    drop_mixed: bool = option(
        default=False, panel=WORDS, meaning="Leave out words of digits and letters, as 5m or 19th."
    )
    keep_boilerplate: bool = option(
        default=False,
        panel=WORDS,
        meaning="Count words also in what is no subject: URLs, e-mail addresses, handles, headers "
        "of mails, page numbers, and lines that many documents have, as those of a menu.",
    )
    mend_encoding: bool = option(
        default=False,
        panel=WORDS,
        meaning="Mend text that was decoded wrongly, as caf\u00c3\u00a9. Needs the package ftfy.",
    )
    min_count: int | None = option(
        None,
        WORDS,
        "Fewest occurrences of a word that is kept.",
        found="1",
    )
    min_df: float | str | None = option(
        None,
        WORDS,
        "Fewest documents with a word that is kept, as 5, or their share, as 0.01.",
        found="1 below 20 documents, 2 below 120, 3 below 160, 4 below 200, 5 below 6,000, then a "
        "thousandth of the documents, at most 20",
    )
    max_df: float | str | None = option(
        None,
        WORDS,
        "Most documents with a word that is kept, as 500, or their share, as 0.5.",
        found="half of them; all if there are fewer than 20",
    )
    weighting: str | None = option(
        None, WORDS, "counts, binary, tfidf or sublinear-tfidf.", found="sublinear-tfidf"
    )
    k: Any = option(
        None,
        MODEL,
        "Number of groups, as 5, or several to choose from, as 2:20 or 2,4,8.",
        found="up to 40, and more while groups come back",
    )
    seeds: Any = option(
        None,
        MODEL,
        "Table with the columns group and words, as `sport,match team goal`: groups that you ask "
        "for. They keep these names and take the documents that fit them. A column ids, in place "
        "of words or beside them, has ids of documents, with semicolons between.",
        found="all groups are found",
    )
    free: int | None = option(
        None,
        MODEL,
        "Groups to find beside those of {seeds}.",
        found="0, or what {k} leaves",
    )
    seed_weight: float | None = option(
        None,
        MODEL,
        "How many documents the seeds of a group count as, as a share of a group of mean size. "
        "More holds groups closer to {seeds}.",
        found="0.5",
    )
    levels: Any = option(
        None,
        MODEL,
        "Numbers of broader groups that the groups lie in, as 5 or 5,12: named in groups.csv, "
        "tables/levels.csv and the report. Without {k}, the largest is the number of groups: "
        "`{levels} 5,20`.",
        found="the broad number, where one is advised",
    )
    effects: Any = option(
        None,
        MODEL,
        "Columns of the documents, as party,year or date: how the shares of the groups depend on "
        "them, with 95 % intervals, in tables/effects.csv and the report. Documents are drawn "
        "again 200 times, which takes about as long as the rest.",
        found="none",
    )
    seed: int = option(0, MODEL, "The same seed gives the same result, to the last digit.")
    criterion: str | None = option(
        None,
        MODEL,
        "Chooses the sparsity: aic, bic, ric, ricc, ebic or icl; none keeps dense prototypes.",
        found="bic; none for embeddings",
    )
    k_criterion: str = option(
        "advice",
        MODEL,
        "Chooses the number of groups: advice (halves of the documents are grouped, to see "
        "which groups come back), or a criterion: aic, bic, ric, ricc, ebic or icl.",
    )
    relaxed: bool = option(
        True,
        MODEL,
        "Judge the steps of the path by their own, shrunken prototypes, which keeps more words. "
        "Without this option each step is judged by a second fit, without penalty, of the words "
        "that are left.",
    )
    kappa: float | str = option(
        "shared",
        MODEL,
        "How near documents are to the middle of their group: one number estimated for all "
        "groups (shared) or for each of them (free), or a given one, as 100; a larger number "
        "means nearer. Free ones gave worse groups on every set of texts that was tried.",
    )
    noise: str | None = option(
        None,
        MODEL,
        "`uniform` lets documents that fit no group belong nowhere: they are counted and listed "
        "apart, and are in no group.",
        found="none: every document has a group",
    )
    max_noise: float | str | None = option(
        None,
        MODEL,
        "With {noise}, which documents may belong nowhere: those that fit much worse than nearly "
        "all others (auto), of these at most a share, as 0.05 or 5%, or any number of documents "
        "that fit a uniform distribution better (free), where there may be many.",
        found="auto",
    )
    starts: int = option(
        5, MODEL, "Runs of the search for each number of groups, before they are crossed."
    )
    min_relative_increase: float | None = option(
        None,
        MODEL,
        "By which share the penalty grows at least from one step of the path to the next. A "
        "smaller share separates words that leave together, and takes longer.",
        found=f"{INCREASE}; {INCREASE_OF_MANY} above {MANY:,} documents",
    )
    max_steps: int = option(1000, MODEL, "Largest number of steps of the path.")
    names: Any = option(
        None,
        MODEL,
        "Table with the columns group and name: names for the groups of the run in the folder. "
        "Groups that are not in it keep their automatic names. A third column, fit, as "
        "`spheremix names` gives it, is optional: names of other groups are then refused.",
        changes_result=False,
    )
    namer: str | None = option(
        None,
        MODEL,
        "Address of a language model that names the groups, as http://localhost:11434/v1: ollama, "
        "llama.cpp and vLLM have this interface. It gets words, titles and excerpts of typical "
        "documents. Without it nothing is sent anywhere.",
        found="none",
        changes_result=False,
    )
    namer_model: str | None = option(
        None,
        MODEL,
        "Name of the model that {namer} asks.",
        found="the first that its server lists",
        changes_result=False,
    )
    namer_remote: bool = option(
        default=False,
        panel=MODEL,
        meaning="Let {namer} be another machine than this one: words, titles and excerpts of "
        "documents are sent there.",
        changes_result=False,
    )
    threads: int | None = option(
        None, RUNNING, "Number of threads.", found="all cores", changes_result=False
    )
    checkpoint: float = option(
        60.0,
        RUNNING,
        "Seconds of work on the path that are lost at most when the process is killed.",
        changes_result=False,
    )

    def __post_init__(self) -> None:
        # Loaded here so that the help of the command does not wait for NumPy and scikit-learn.
        from spheremix.run.seeds import read_seeds  # noqa: PLC0415
        from spheremix.text.words import word_list  # noqa: PLC0415

        found: dict[str, Any] = {
            "k": parse_k(self.k),
            "levels": parse_k(self.levels, "levels"),
            "kappa": parse_kappa(self.kappa),
            "min_df": parse_df("min_df", self.min_df),
            "max_df": parse_df("max_df", self.max_df),
            "max_noise": parse_share("max_noise", self.max_noise),
            "noise": None if self.noise == "none" else self.noise,
            "label": parse_names("label", self.label),
            "effects": parse_columns(self.effects),
            "split": parse_split(self.split),
            "seeds": read_seeds(self.seeds),
        }
        found["k"] = self._seeded_number(found["seeds"], found["k"])
        if found["levels"] and found["k"] is None:
            found["k"] = found["levels"][-1:]
        for name in ("criterion", "k_criterion"):  # as people write them: BIC, bic
            if isinstance(getattr(self, name), str):
                found[name] = getattr(self, name).lower()
        for name in ("vocabulary", "texts", "metadata"):
            if getattr(self, name) is not None:
                found[name] = fspath(getattr(self, name))
        if isinstance(self.meaning, PathLike):
            found["meaning"] = fspath(self.meaning)
        stop = Path(self.stop_words) if isinstance(self.stop_words, str) else self.stop_words
        for name, given in (("stop_words", stop), ("drop", self.drop)):
            if given is not None:  # words that are left out, not the file in which they were
                found[name] = word_list(name, given)
        for name, value in found.items():
            object.__setattr__(self, name, value)
        self._check()

    def _seeded_number(self, seeds: Any, k: tuple[int, ...] | None) -> tuple[int, ...] | None:
        """Return the number of groups where some are asked for: there is no search for it."""
        from spheremix.parameters import require_integer, require_number  # noqa: PLC0415

        if self.free is not None:
            require_integer("free", self.free, 0)
            if seeds is None:
                raise ParameterError(
                    "{free} is for groups beside those of {seeds}, which are not given",
                    remedies=("give the number of groups with {k}",),
                )
        if self.seed_weight is not None:
            require_number("seed_weight", self.seed_weight, above=0.0)
            if seeds is None:
                raise ParameterError(
                    "{seed_weight} is the weight of {seeds}, which are not given",
                    remedies=("leave it out",),
                )
        if seeds is None:
            return k
        if self.effects:
            raise ParameterError(
                "{effects} are not found yet for groups of {seeds}", remedies=("leave out one",)
            )
        asked = (len(seeds) + (self.free or 0),)
        if k is None or k == asked:
            return asked
        if len(k) > 1:
            raise ParameterError(
                "{k} has several numbers, and with {seeds} the number of groups is not searched "
                "for",
                remedies=("give one number with {k}", "say how many others with {free}"),
            )
        if self.free is not None or k[0] < len(seeds):
            raise ParameterError(
                "{k} is {given}, and {seeds} and {free} ask for {asked}",
                remedies=("leave out {k}",),
                given=k[0],
                asked=count(asked[0], "group"),
            )
        return k

    def _check(self) -> None:
        """Refuse values before a large file is read."""
        # Loaded here so that the help of the command does not wait for NumPy and scikit-learn.
        from spheremix.parameters import (  # noqa: PLC0415
            LARGEST_INCREASE,
            require_flag,
            require_integer,
            require_number,
        )
        from spheremix.select import CRITERIA  # noqa: PLC0415
        from spheremix.text.vectorizer import WEIGHTINGS  # noqa: PLC0415

        for name, choices in (
            ("criterion", (None, *CRITERIA, DENSE)),
            ("k_criterion", (ADVICE, *CRITERIA)),
            ("weighting", (None, *WEIGHTINGS)),
            ("lemmatizer", (None, "simplemma", "none")),
            ("noise", (None, "uniform", "none")),
        ):
            if getattr(self, name) not in choices:
                raise ParameterError(
                    f"{{{name}}} must be one of {{choices}}; got {{got}}",
                    choices=", ".join(filter(None, choices)),
                    got=repr(getattr(self, name)),
                )
        if self.max_noise is not None and self.noise is None:
            raise ParameterError(
                "{max_noise} is for documents that belong nowhere, and there are none without "
                "{noise}",
                remedies=("set {noise='uniform'}", "leave out {max_noise}"),
            )
        if self.namer is not None:
            check_address(self.namer, remote=self.namer_remote)
        elif self.namer_model is not None or self.namer_remote:
            given = "namer_remote" if self.namer_model is None else "namer_model"
            raise ParameterError(
                f"{{{given}}} is of the model that {{namer}} asks", remedies=("give {namer}",)
            )
        require_flag("namer_remote", self.namer_remote)
        require_flag("relaxed", self.relaxed)
        require_integer("starts", self.starts, 1)
        require_integer("max_steps", self.max_steps, 1)
        require_integer("seed", self.seed, 0)
        if (increase := self.min_relative_increase) is not None:
            require_number("min_relative_increase", increase, at_most=LARGEST_INCREASE)
        require_number("checkpoint", self.checkpoint)
        if self.threads is not None:
            require_integer("threads", self.threads, 1)

    def completed(self, *, words: bool, n_documents: int) -> ExploreOptions:
        """Choose how sparse prototypes are, and the steps of the path, by what the documents are.

        Which coordinates of an embedding are zero depends on its axes, which mean nothing: there
        the penalty is left out.
        """
        increase = self.min_relative_increase
        if increase is None:
            increase = INCREASE_OF_MANY if n_documents > MANY else INCREASE
        criterion = self.criterion or ("bic" if words else DENSE)
        return replace(self, criterion=criterion, min_relative_increase=increase)

    def command(self) -> dict[str, Any]:
        """Return the options that the result depends on, as JSON can say them."""
        found = {name: getattr(self, name) for name in _of_result()}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in found.items()}

    @classmethod
    def of_command(cls, command: dict[str, Any], threads: int | None) -> ExploreOptions:
        """Make the options again that the result of a run depends on."""
        known = {name: value for name, value in command.items() if name in _of_result()}
        return cls(**known, threads=threads)

    def reading(self) -> dict[str, Any]:
        """Return what to read, as ``read_documents`` takes it; "none" stands for no column."""
        names = {"text": self.text, "id": self.id, "date": self.date, "title": self.title}
        return {
            **{part: False if name == "none" else name for part, name in names.items()},
            "label": False if self.label == ("none",) else self.label,
            "date_format": self.date_format,
            "date_from": self.date_from,
            "label_from": self.label_from,
            "sheet": self.sheet,
            "header": self.header,
            "metadata": self.metadata,
        }

    def languages(self) -> list[str]:
        """Return the codes of the languages of the texts."""
        return [code.strip().lower() for code in (self.language or "en").split(",")]

    def vectorizer(self, lines: Iterable[str] = ()) -> dict[str, Any]:
        """Return the parameters of the vectoriser, with lines that it leaves out in any case."""
        from spheremix.text.vectorizer import WEIGHTING  # noqa: PLC0415

        return {
            "language": self.language or "en",
            "lemmatizer": self.lemmatizer or "simplemma",
            "drop_mixed": self.drop_mixed,
            "keep_boilerplate": self.keep_boilerplate,
            "drop_lines": sorted(lines),
            "phrases": 1 if self.ngrams is None else self.ngrams,
            "drop": [*(self.stop_words or ()), *(self.drop or ())],
            "min_count": self.min_count,
            "min_df": self.min_df,
            "max_df": self.max_df,
            "weighting": self.weighting or WEIGHTING,
        }

    def candidates(self, n: int, n_distinct: int) -> list[int]:
        """Return the numbers of groups to try on n documents, some of which may be the same."""
        there = f"there {'is' if n == 1 else 'are'} {count(n, 'document')} with words"
        if n_distinct < n:
            there += ", all the same" if n_distinct == 1 else f", only {n_distinct:,} different"
        if self.k is not None:
            if self.k[-1] > n_distinct:
                raise ParameterError(
                    "{most} groups are too many, since {there}",
                    remedies=("lower {k} to {n_distinct} at most",),
                    most=self.k[-1],
                    there=there,
                    n_distinct=n_distinct,
                )
            return list(self.k)
        if n_distinct < LEAST:
            raise ParameterError(
                "At least {least} documents are needed to look for groups, and {there}",
                remedies=("say how many groups with {k}",),
                least=LEAST,
                there=there,
            )
        return list(range(2, max(2, min(LARGEST, n_distinct // 2)) + 1))


def _of_result() -> list[str]:
    """Return the options that the result depends on."""
    fields = dataclasses.fields(ExploreOptions)
    return [one.name for one in fields if one.metadata["changes_result"]]


# Values that can be given in several ways; NumPy's numbers count as numbers. Nothing here loads
# NumPy, so that the help of the command does not wait for it.


def parse_k(value: Any, name: str = "k") -> tuple[int, ...] | None:
    """Read numbers of groups: 5, "5", "2:20" (both included), "2,4,8", a range or a list."""
    if value is None or (isinstance(value, str) and value == AUTO):
        return None
    numbers = _from_text(value, name) if isinstance(value, str) else _from_numbers(value, name)
    if not numbers:
        raise ParameterError(f"{{{name}}} must have at least one number of groups; got none")
    if min(numbers) < 1:
        raise ParameterError(
            f"{{{name}}} must be 1 or more: {{least}} groups cannot be; got {{got}}",
            least=min(numbers),
            got=repr(value),
        )
    if len(numbers) > MOST_CANDIDATES:
        raise ParameterError(
            f"{{{name}}} must have {{most}} numbers at most; got {{got}}",
            most=f"{MOST_CANDIDATES:,}",
            got=repr(value),
        )
    return tuple(sorted(set(numbers)))


def _from_numbers(value: Any, name: str) -> list[int]:
    """Read whole numbers; of too many, one more than there may be."""
    try:
        several = isinstance(value, Iterable) and not isinstance(value, bytes | bytearray)
        listed = list(islice(value, MOST_CANDIDATES + 1)) if several else [value]
    except TypeError:  # an array of no dimension
        listed = [value]
    if not all(isinstance(K, Integral) and not isinstance(K, bool) for K in listed):
        raise ParameterError(
            f"{{{name}}} must be whole numbers of groups; got {{got}}", got=repr(value)
        )
    return [int(K) for K in listed]


def _from_text(text: str, name: str) -> list[int]:
    first, colon, last = text.partition(":")
    try:
        ends = [int(first), int(last)] if colon else [int(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(
            f"{{{name}}} must be a number of groups, as 5, a range, as 2:20, or several, as 2,4,8; "
            "got {got}",
            got=repr(text),
        ) from None
    if not colon:
        return ends
    if ends[0] > ends[1]:
        raise ParameterError(
            f"{{{name}}} must be a range that goes up, as {{up}}; got {{got}}",
            up=f"{ends[1]}:{ends[0]}",
            got=repr(text),
        )
    return list(range(ends[0], min(ends[1], ends[0] + MOST_CANDIDATES) + 1))


def _number(value: Any) -> float:
    """Read a number as people give it: 5, "5", 0.5 or "50%"; NaN for anything else.

    A whole number is an int, which stands for documents where a float is a share of them.
    """
    try:
        if isinstance(value, str):
            if value.endswith("%"):
                return float(value[:-1]) / 100.0
            return float(value) if set(value) & set(".e") else int(value)
        if isinstance(value, bool) or not isinstance(value, Real):
            return math.nan
        return int(value) if isinstance(value, Integral) else float(value)
    except (ValueError, OverflowError):
        return math.nan


def parse_df(name: str, value: Any) -> float | None:
    """Read a number of documents (5, "5") or a share of them (0.5, "0.5", "50%")."""
    if value is None or 0 <= (found := _number(value)) < math.inf:
        return None if value is None else found
    raise ParameterError(
        f"{{{name}}} must be a number of documents, as 5, or a share, as 0.5; got {{got}}",
        got=repr(value),
    )


def parse_split(value: Any) -> str | int | None:
    """Read "none", "paragraphs", "sentences" or a number of words; "auto" is None."""
    if value is None or (isinstance(value, str) and value == AUTO):
        return None
    if isinstance(value, str) and value in {"none", "paragraphs", "sentences"}:
        return value
    found = _number(value)
    if not isinstance(found, int) or found < 1:
        raise ParameterError(
            "{split} must be auto, none, paragraphs, sentences or a number of words from 1 on, as "
            "80; got {got}",
            got=repr(value),
        )
    return found


def parse_kappa(value: Any) -> str | float:
    """Read "shared", "free" or a number."""
    if isinstance(value, str) and value in {"shared", FREE}:
        return value
    kappa = math.nan if isinstance(value, str) and "%" in value else _number(value)
    if not 0.0 < kappa <= sys.float_info.max:
        raise ParameterError(
            "{kappa} must be shared, free or a number above 0, as 100; got {got}", got=repr(value)
        )
    return float(kappa)


def parse_share(name: str, value: Any) -> float | str | None:
    """Read a share below one (0.05, "0.05", "5%"), "auto" or "free"."""
    if value is None or (isinstance(value, str) and value in {AUTO, FREE}):
        return value
    if not 0.0 < (found := _number(value)) < 1.0:
        raise ParameterError(
            f"{{{name}}} must be auto, free or a share between 0 and 1, as 0.05; got {{got}}",
            got=repr(value),
        )
    return found


def parse_columns(value: Any) -> tuple[str, ...] | None:
    """Read columns that effects are asked of: "party,year", or several names."""
    listed = value.split(",") if isinstance(value, str) else value
    found = parse_names("effects", listed) or ()
    return tuple(dict.fromkeys(one.strip() for one in found if one.strip() != "none")) or None


def parse_names(name: str, value: Any) -> tuple[str, ...] | None:
    """Read the names of columns: "section", or several of them; "none" stands alone."""
    if value is None or isinstance(value, str):
        return None if value is None else (value,)
    found = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not all(isinstance(one, str) for one in found) or ("none" in found and len(found) > 1):
        raise ParameterError(
            f"{{{name}}} must be the name of a column, several of them, or none alone; got {{got}}",
            got=repr(value),
        )
    return found or None


def check_address(address: Any, *, remote: bool) -> None:
    """Refuse what is no address; and hosts other than this machine, where nobody allowed them."""
    from urllib.parse import urlsplit  # noqa: PLC0415

    try:
        parts = urlsplit(address if isinstance(address, str) else "")
        host, known = parts.hostname or "", parts.port != 0
    except ValueError:
        parts, host, known = urlsplit(""), "", False
    more = parts.query or parts.fragment or parts.username or parts.password
    plain = host.isascii() and str(address).isprintable() and " " not in str(address)
    if parts.scheme not in {"http", "https"} or not host or not known or not plain or more:
        raise ParameterError(
            "{namer} must be an address, as http://localhost:11434/v1; got {got}", got=repr(address)
        )
    if not remote and not is_here(host):
        raise ParameterError(
            "{namer}: {host} is another machine. It would be sent the words of each group, and "
            "titles and the first {characters} characters of {documents} of its documents",
            remedies=("allow this with {namer_remote=True}", "use a model on this machine"),
            host=host,
            characters=EXCERPT,
            documents=DOCUMENTS,
        )


def is_here(host: str) -> bool:
    """Return whether a host is this machine."""
    import ipaddress  # noqa: PLC0415 (who asks no model does not wait for it)

    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
