"""All that people do with a run, one after the other, and what they see after each of it."""

from __future__ import annotations

import hashlib
import warnings
from itertools import takewhile

import numpy as np
from cli_common import run as command
from comparing import ROUNDED, page, read_tables, rounded, said

import spheremix as sm

TAB = "\t"  # between the cells of a column
OUTPUTS = (".csv", ".html", ".txt")
NAMES = ("Sea & sky", "Zweite", "third one", "4th", "fünfte", "sixth", "seventh")
FIRST = 8  # words of each group that are compared after edits
# Columns that are compared for whole runs only: they follow from others, or are the same there.
LEFT_OUT = {
    *("posterior", "margin", "x", "y", "n_words", "repeats", "title", "date", "text", "feature"),
    *("aic", "ric", "ricc", "ebic", "icl", "n_iter", "score", "labels", "topic", "id"),
    *("sparsity", "fine_group", "exit_beta", "shared_words", "only_here_words"),
}


def options(given):
    """Return options of Python as they are typed."""
    typed = []
    for name, value in given.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            typed.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            typed += [f"--{flag}", str(value)]
    return typed


def outputs(folder):
    """Return the checksum of each table and page of a folder: what people open."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in OUTPUTS and is_output(path.relative_to(folder))
    }


def is_output(path):
    """Return whether a file is one that people open: at the top, or a table."""
    return (len(path.parts) == 1 and path.name != "vocabulary.txt") or path.suffix == ".csv"


def quiet(work, *arguments, **more):
    """Call without the warnings that a person would see."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work(*arguments, **more)


def group_names(run):
    """Return the names of the groups of a run, by number."""
    named = zip(run.groups["group"], run.groups["name"], strict=True)
    return {number: name for number, name in named if number >= 0}


def told(folder):
    """Return what README.txt says about a run alone, a line a paragraph."""
    _, *paragraphs = (folder / "README.txt").read_text(encoding="utf-8").split("\n\n")
    found = takewhile(lambda one: not one.startswith("documents.csv"), paragraphs)
    return "\n".join(" ".join(one.split()) for one in found)


def seen(folder, out=None, hidden=()):
    """Return what people see of a run: tables, page, what the command said, and README.txt."""
    run = sm.load_run(folder)
    names = list(group_names(run).values())
    found = {"tables": read_tables(folder), "page": page(quiet(run.report).content)}
    if out is not None:
        found["summary"] = said(f"{out}\n{told(folder)}", names, hidden)
    return found


def renumbered(state):
    """Return a state whose groups have the numbers of their first documents.

    Which numbers the groups have after a merge or a split is for other tests.
    """
    tables = state["tables"]
    groups, second = "group", "second_group"
    met = dict.fromkeys(one for one in tables["documents.csv"][groups] if one not in {"", "-1"})
    numbers = {one: str(i) for i, one in enumerate(met)}
    found = {}
    for file, cells in tables.items():
        new = {name: of for name, of in cells.items() if name not in LEFT_OUT}
        for name in (groups, second):
            if name in cells and file != "tables/tree.csv":
                new[name] = [numbers.get(one, one) for one in cells[name]]
        if groups in cells and file not in {"documents.csv", "tables/tree.csv"}:
            order = sorted(range(len(new[groups])), key=lambda i: (int(new[groups][i]), i))
            new = {name: [of[i] for i in order] for name, of in new.items()}
        if file == "words.csv":  # the first words say enough
            first = [i for i, rank in enumerate(new["rank"]) if int(rank) <= FIRST]
            new = {name: [of[i] for i in first] for name, of in new.items()}
        if file != "tables/tree.csv":
            found[file] = new
    kept = ("kind", "sizes", "names", "stability")
    shown = {name: state["page"][name] for name in kept}
    order = sorted(range(len(shown["names"])), key=lambda k: int(numbers.get(str(k), 99)))
    for name in ("sizes", "names", "stability"):
        shown[name] = [shown[name][k] for k in order]
    return {"tables": found, "page": shown}


def saved(case, place):
    """Fit, save and load an estimator; return what was lost on the way, and what it predicts."""
    if case.name == "embeddings":
        X, words = np.load(case.source), None
    else:
        vectorizer = sm.text.TextVectorizer(min_df=1, lemmatizer="none")
        X = vectorizer.fit_transform([text for text in case.texts if text])
        words = [str(one) for one in vectorizer.get_feature_names_out()]
    how = {"n_init": 2, "random_state": 0}
    model = {
        "texts": lambda: sm.VMFPath(3, max_steps=20, **how),
        "dated": lambda: sm.VMFMixture(3, **how),
        "embeddings": lambda: sm.VMFMixture(3, kappa="free", **how),
        "noise": lambda: sm.VMFMixture(3, noise="uniform", **how),
        "sizes": lambda: sm.VMFMixtureIC([3, 4, 5], **how),
    }[case.name]()
    model = quiet(model.fit, X)
    columns = {"place": [f"row {i}" for i in range(X.shape[0])]}
    folder = quiet(sm.save_run, place / "saved", model, feature_names=words, X=X, documents=columns)
    run = sm.load_run(folder)
    rows = run.matrix()
    same = rows is not None and bool(np.array_equal(model.predict(X), run.mixture.predict(rows)))
    return {
        "same": same and run.feature_names == words,
        "labels": [int(k) for k in run.mixture.labels_],
        "kappas": [float(one) for one in run.mixture.kappas_],
        "weights": [float(one) for one in run.mixture.weights_],
        "log_likelihood": float(run.mixture.log_likelihood_),
        "documents": list(run.documents) if run.documents is not None else None,
    }


def tell(case, place):
    """Do all of it; return the states by name, and the checksums of outputs by name."""
    states, sums = {}, {}
    folder, hidden = place / "run", (place, "tables/")
    base = ["explore", case.source, "-o", folder, *options(case.options)]

    def record(name, out=None, where=folder, as_is=True):
        state = seen(where, out, hidden)
        states[name] = state if as_is else renumbered(state)
        sums[name] = outputs(where)

    out, _ = command(*base)
    record("explore", out)
    again, _ = command(*base)
    states["again"] = {"summary": said(again, states["explore"]["page"]["names"], hidden)}
    sums["again"] = outputs(folder)
    out, _ = command("explore", case.source, "-o", folder, *options({**case.options, **case.other}))
    record("other", out)
    command(*base)
    sums["back"] = outputs(folder)

    run = sm.load_run(folder)
    ids = run.documents["id"]
    given = {
        "names": dict(zip(group_names(run), NAMES, strict=False)),
        "notes": {"groups": {1: "look <again>"}, "documents": {ids[3]: "odd"}},
        "misplaced": [ids[5], ids[7]],
    }
    run = quiet(run.edit, given)
    record("rename")
    edits = {"merge": {"merge": [case.merge]}, "split": {"split": [case.split]}}
    if case.drop is not None:
        edits["drop words"] = {"drop_words": case.drop}
    for name, one in edits.items():
        run = quiet(run.edit, one)
        record(name, as_is=False)
        run = quiet(run.undo_edits)
        sums[f"undo {name}"] = outputs(folder)

    more = options(case.update)
    out, _ = command("update", folder, case.new, "-o", place / "updated", "--threads", 1, *more)
    record("update", out, place / "updated", as_is=False)
    states["update"]["summary"] = said(f"{out}\n{told(place / 'updated')}", NAMES, hidden)
    out, _ = command("assign", folder, case.new, "-o", place / "assigned.csv")
    states["assign"] = {
        "tables": {"assigned.csv": read_tables(place)["assigned.csv"]},
        "summary": said(out, NAMES, hidden),
    }
    table = quiet(run.assign, str(case.new))
    states["assign"]["same"] = [
        "" if one is None else str(one) for one in table["group"]
    ] == states["assign"]["tables"]["assigned.csv"]["group"]
    quiet(run.undo_edits)
    sums["undo all"] = outputs(folder)
    states["save"] = {"values": saved(case, place)}
    return states, sums


# Goldens: columns that several states share are written once


def packed(states):
    """Return states as they are written."""
    places, out = {}, {}
    for state, parts in states.items():
        out[state] = dict(parts)
        if "tables" in parts:
            out[state]["tables"] = {
                file: {
                    name: places.setdefault(TAB.join(map(rounded, of)), len(places))
                    for name, of in cells.items()
                }
                for file, cells in parts["tables"].items()
            }
    return {"columns": list(places), "states": out}


def unpacked(golden):
    """Return states as they were; a table without rows has one that is empty."""
    pool = golden["columns"]
    for parts in golden["states"].values():
        for cells in parts.get("tables", {}).values():
            for name, number in cells.items():
                cells[name] = pool[number].split(TAB)
    return golden["states"]


def short(value):
    """Return a value of JSON with numbers of few digits."""
    if isinstance(value, float):
        return float(f"{value:.{ROUNDED}g}")
    if isinstance(value, dict):
        return {name: short(one) for name, one in value.items()}
    return [short(one) for one in value] if isinstance(value, list | tuple) else value
