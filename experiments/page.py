"""The page of the docs and the full one, from result files: `python -m experiments.page`."""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from experiments import claims, claims_reference, claims_simulation, printed, prose
from experiments.cstr import CRITERIA
from experiments.data import TRUE_K
from experiments.drawing import NAMES, read
from experiments.runner import RESULTS
from experiments.search import RUNS

if TYPE_CHECKING:
    from collections.abc import Iterable

PAGE = Path(__file__).resolve().parents[1] / "docs" / "paper.md"
FULL = "paper.md"  # beside the results
MODULES = {
    "path": "path_illustration",
    "simulation": "simulation",
    "comparison": "comparison",
    "cstr": "cstr",
    "search": "search",
}
TITLES = {
    "path": "4.2, one path",
    "simulation": "4.3, simulation",
    "comparison": "5.2, reference models",
    "cstr": "5.3, CSTR",
}
CLAIMS = {
    "path": claims.path,
    "simulation": claims_simulation.simulation,
    "comparison": claims_reference.comparison,
    "cstr": claims_reference.cstr,
}
METHODS = ("skmeans", "shared", "free", "dbmovmfs")
VERDICTS = ("confirmed", "partly confirmed", "not confirmed")
SEARCHED = RUNS[-1]  # runs of the search in the paired tests


def text(results: Path = RESULTS) -> str:
    """Write the short page: what each study says of the claims of the paper."""
    judged = {name: judge(results) for name, judge in CLAIMS.items() if _was_run(results, name)}
    counts = {name: Counter(claim.verdict for claim in found) for name, found in judged.items()}
    total = sum(counts.values(), Counter())
    header = ("study", "cases", "minutes x processes", *VERDICTS)
    rows = [
        (TITLES[name], *_size(results, name), *(count[verdict] for verdict in VERDICTS))
        for name, count in counts.items()
    ]
    numbers = dict(zip(("holds", "partly", "fails"), map(total.__getitem__, VERDICTS), strict=True))
    parts = [prose.SHORT.format(n=total.total(), table=table(header, rows), **numbers)]
    for name, found in judged.items():
        tests = claims_reference.t_tests(results)["agrees"] if name == "cstr" else []
        parts.append(
            prose.SECTIONS[name].format(
                sparse=_sparse(results) if name == "cstr" else "",
                tests=f"{sum(tests)} of {len(tests)}",
            )
        )
        doubted = [claim for claim in found if not claim.holds]
        if doubted:
            share = f"{len(found) - len(doubted)} of {len(found)}"
            parts += [f"**Confirmed:** {share} claims, all but these:", *_claims(doubted)]
        else:
            parts.append(f"**Confirmed:** {' '.join(claim.says for claim in found)}")
    return "\n".join(part.strip("\n") + "\n" for part in [*parts, prose.SECTION_6])


def full(results: Path = RESULTS, drawn: str = "../../docs/figures") -> str:
    """Write all of it: the studies that have results, and the names of those that have none."""
    sections = {
        "path": _path,
        "simulation": _simulation,
        "comparison": _comparison,
        "cstr": _cstr,
    }
    parts = [prose.INTRODUCTION.format(commands=_commands(results))]
    for name, section in sections.items():
        if _was_run(results, name):
            parts += section(results)
        else:
            parts.append(f"*The study `{name}` has not been run.*")
    written = "\n".join(part.strip("\n") + "\n" for part in parts)
    return written.replace("(figures/", f"({drawn}/")


def _was_run(results: Path, name: str) -> bool:
    return (results / f"{name}.json").exists()


def _size(results: Path, name: str) -> tuple[int, str]:
    run = json.loads((results / f"{name}.json").read_text(encoding="utf-8"))
    return run["cases"], f"{run['seconds'] / run['workers'] / 60:.0f} x {run['workers']}"


def _commands(results: Path) -> str:
    """Return the commands of the studies, at the scales of their results."""
    lines = []
    for name, module in MODULES.items():
        file = results / f"{name}.json"
        scale = json.loads(file.read_text(encoding="utf-8"))["scale"] if file.exists() else 1
        lines.append(f"python -m experiments.{module}" + f" --scale {scale:g}" * (scale != 1))
    return "\n".join(lines)


def _path(results: Path) -> list[str]:
    words = prose.PATH.format(record=record(results, "path"))
    return [words, *_claims(claims.path(results))]


def _simulation(results: Path) -> list[str]:
    words = prose.SIMULATION.format(record=record(results, "simulation"))
    return [words, *_claims(claims_simulation.simulation(results))]


def _comparison(results: Path) -> list[str]:
    words = prose.COMPARISON.format(record=record(results, "comparison"))
    return [words, *_claims(claims_reference.comparison(results))]


def _cstr(results: Path) -> list[str]:
    words = prose.CSTR.format(record=record(results, "cstr"), **_cstr_tables(results))
    return [words, "### In short\n", *_claims(claims_reference.cstr(results))]


def _claims(found: list[claims.Claim]) -> list[str]:
    return ["\n".join(line for claim in found for line in claim.lines())]


def record(results: Path, name: str) -> str:
    """Say the size, the seeds and the time of a run."""
    run = json.loads((results / f"{name}.json").read_text(encoding="utf-8"))
    minutes = run["seconds"] / run["workers"] / 60
    versions = ", ".join(f"{key} {value}" for key, value in run["versions"].items())
    return (
        f"Scale {run['scale']:g} of the full size: {run['cases']} cases, {minutes:.1f} "
        f"minutes with {run['workers']} processes ({run['machine']}; {versions}). Seeds: "
        f"{run['seeds']}. Hash of the code: {run['code']}."
    )


def table(header: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    """Write a table in Markdown."""
    head = [str(cell) for cell in header]
    lines = [head, ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cstr_tables(results: Path) -> dict[str, str]:
    return {
        "classes": _from_classes(results),
        "confusion": _confusion(results),
        "lloyd": _lloyd(results),
        "dense": _dense(results),
        "starts": _starts(results),
        "search": _search(results),
        "sparse": _sparse(results),
        "paths": _paths(results),
        "tests": _tests(results),
        "blocks": _blocks(results),
    }


def _from_classes(results: Path) -> str:
    found = read(results, "cstr_classes").set_index("method")["ari"]
    rows = [
        (NAMES[method], f"{found[method]:.3f}", printed.FROM_CLASSES.get(method, "-"))
        for method in METHODS
    ]
    return table(("started from the classes", "ARI here", "printed"), rows)


def _confusion(results: Path) -> str:
    found = read(results, "cstr_confusion").query("method == 'skmeans'")
    ours = found[["1", "2", "3", "4"]].to_numpy()
    rows = [(k + 1, *ours[k], "", *theirs) for k, theirs in enumerate(printed.CONFUSION)]
    return table(("class", 1, 2, 3, 4, "printed:", 1, 2, 3, 4), rows)


def _lloyd(results: Path) -> str:
    """Compare the printed matrix with what Lloyd's iterations go through."""
    found = read(results, "cstr_lloyd")
    ari = found["ari"].iloc[:-1]
    return (
        f"Lloyd's iterations from the classes go through an ARI of {claims.listed(ari, '{:.3f}')} "
        f"and stay there: the last one moves {found['moved'].iloc[-1]} rows. The printed matrix is "
        f"at least {found['apart'].min()} rows away from each of them, so it is neither their end "
        "nor a stop on the way; the R package may have used another of its algorithms."
    )


def _dense(results: Path) -> str:
    """Show the means here, then the printed ones: side by side they would not fit a phone."""
    found = claims_reference.dense_means(results)
    Ks = [K for K in printed.DENSE if (K, "shared") in found.index]
    here = {(K, name): tuple(found.loc[(K, name), ["mean", "std"]]) for K in Ks for name in METHODS}
    theirs = {(K, name): printed.DENSE[K][name] for K in Ks for name in METHODS}
    tables = []
    for title, values in (("here", here), ("printed", theirs)):
        rows = [(K, *("{:.3f} ± {:.3f}".format(*values[K, name]) for name in METHODS)) for K in Ks]
        tables.append(table((f"K, {title}", *(NAMES[name] for name in METHODS)), rows))
    return "\n\n".join(tables)


def _starts(results: Path) -> str:
    """Show spherical k-means from fewer starts beside the printed means, at every K."""
    few = read(results, "cstr_starts").pivot_table("ari", "K", "n_init")
    few["all"] = read(results, "cstr_dense").query("method == 'skmeans'").groupby("K")["ari"].mean()
    theirs = {K: printed.DENSE[K]["skmeans"][0] for K in few.index}
    rows = [(K, *(f"{x:.3f}" for x in row), f"{theirs[K]:.3f}") for K, row in few.iterrows()]
    close = {
        n: sum(abs(few[n][K] - theirs[K]) <= claims_reference.CLOSE for K in few.index)
        for n in few.columns
    }
    counts = ", ".join(f"{value} ({n})" for n, value in close.items())
    return (
        "Does the number of starts explain where Sk-means differs from the print? Mean ARI by the "
        "number of starts, looked at after the table above:\n\n"
        + table(("K", *(f"{n} starts" for n in few.columns), "printed"), rows)
        + f"\n\nMeans within {claims_reference.CLOSE} of the print, of {len(few)}: {counts}."
    )


def _search(results: Path) -> str:
    """Show spherical k-means by the search, beside Lloyd from random starts and the print."""
    if not (results / "search.json").exists():
        return "*The study `search` has not been run.*"
    found = read(results, "search_models").groupby(["runs", "K"])["ari"].agg(["mean", "std"])
    dense = read(results, "cstr_dense").query("method == 'skmeans'").groupby("K")["ari"]
    columns = {f"{n} run{'s' * (n > 1)}": found.loc[n] for n in found.index.levels[0]}
    columns = {"random starts": dense.agg(["mean", "std"]), **columns}
    Ks = [K for K in printed.DENSE if all(K in one.index for one in columns.values())]
    columns["printed"] = pd.DataFrame(
        [printed.DENSE[K]["skmeans"] for K in Ks], index=Ks, columns=["mean", "std"]
    )
    rows = [(K, *("{:.3f} ± {:.3f}".format(*one.loc[K]) for one in columns.values())) for K in Ks]
    off = {
        name: max(abs(one["mean"][K] - columns["printed"]["mean"][K]) for K in Ks)
        for name, one in columns.items()
        if name != "printed"
    }
    farthest = ", ".join(f"{value:.3f} ({name})" for name, value in off.items())
    theirs, ours = columns["printed"], columns[f"{SEARCHED} runs"]
    nearer = [
        str(K)
        for K in Ks
        if abs(ours["mean"][K] - theirs["mean"][K])
        < abs(columns["random starts"]["mean"][K] - theirs["mean"][K])
    ]
    narrower = sum(ours["std"][K] < theirs["std"][K] for K in Ks)
    return (
        table(("K", *columns), rows)
        + f"\n\nLargest distance of a mean from the printed one: {farthest}. {SEARCHED} runs of "
        "the search are nearer to the printed mean than random starts at K = "
        f"{', '.join(nearer) or 'none'}: a better search than random starts is a part of the "
        "printed column, as the R package's default suggests. It is not all of it: at "
        f"{narrower} of {len(Ks)} numbers of clusters the printed deviation is larger than that "
        "of our search. Fewer runs widen ours, but move the means away from the print at the "
        "smallest K; no number of runs gives both. " + record(results, "search")
    )


def _sparse(results: Path) -> str:
    values = claims_reference.sparse_values(results)
    chosen = read(results, "cstr_sparse").query(f"K == {TRUE_K}")
    sparsity = chosen.groupby("criterion")["sparsity"].mean()
    rows = [
        (
            NAMES[name],
            f"{found.mean():.3f} ± {found.std():.3f}",
            f"{printed.SPARSE[name][0]:.3f} ± {printed.SPARSE[name][1]:.3f}",
            f"{sparsity[name]:.1%}" if name in sparsity.index else "",
        )
        for name, found in values.items()
    ]
    return table(("", "ARI here", "printed", "sparsity here"), rows)


def _paths(results: Path) -> str:
    means = read(results, "cstr_sparse").pivot_table("value", "K", "criterion") / 1000
    rows = [
        (
            K,
            *(
                f"**{row[name]:.2f}**" if means[name].idxmin() == K else f"{row[name]:.2f}"
                for name in CRITERIA
            ),
        )
        for K, row in means.iterrows()
    ]
    return table(("K", *(NAMES[name] for name in CRITERIA)), rows)


def _tests(results: Path) -> str:
    words = {True: "significant", False: "not significant"}
    yes = {True: "yes", False: "no"}
    tests = claims_reference.t_tests(results)
    has_search = (results / "search.json").exists()
    search = claims_reference.t_tests(results, SEARCHED) if has_search else tests
    rows = [
        (
            test["pair"],
            test["K"],
            f"{test['level']:.0%}",
            words[bool(test["printed"])],
            f"{test['p_printed']:.2g}",
            f"{test['difference']:+.4f}, {test['p']:.2g}",
            yes[bool(test["agrees"])],
            f"{other['difference']:+.4f}, {other['p']:.2g}",
            yes[bool(other["agrees"])],
        )
        for (_, test), (_, other) in zip(tests.iterrows(), search.iterrows(), strict=True)
    ]
    heads = ("difference of ARI", "K", "level", "paper", "p of the printed means")
    heads += ("random starts: mean, p", "agrees", "search: mean, p", "agrees")
    kmeans = tests["pair"].str.startswith(NAMES["skmeans"])
    follow = int(((tests["p_printed"] < tests["level"]) == tests["printed"])[kmeans].sum())
    return (
        "A difference is significant when its p is below the level at which the paper tests it. "
        f"With *search*, Sk-means is that of {SEARCHED} runs of the search. The column *p of the "
        "printed means* tests the printed means with the printed deviations, without pairs.\n\n"
        + table(heads, rows)
        + f"\n\n{tests['agrees'].sum()} of {len(tests)} conclusions agree with the paper's with "
        f"random starts, {search['agrees'].sum()} with the search, direction included: where the "
        "paper finds a difference, the first of the pair is better. Means agree better than "
        "conclusions do: the differences tested are of the order of a hundredth, and so are those "
        f"between our means and the printed ones. {follow} of the {kmeans.sum()} conclusions about "
        "Sk-means follow from the printed means and deviations alone, so the way in which "
        "repetitions are paired explains nothing. What would have to be explained is the printed "
        "column of Sk-means itself, whose deviations are larger than ours at most K, with random "
        "starts as with the search. These tests do not replicate."
    )


def _blocks(results: Path) -> str:
    means = read(results, "cstr_blocks").drop(columns="repetition").groupby("model").mean()
    rows = [
        (NAMES[name], *(f"{value:.0f}" for value in means.loc[name]))
        for name in ("dbmovmfs", "dense", "bic")
    ]
    return table(("model", *means.columns), rows)


def main(arguments: list[str] | None = None) -> None:
    """Write the page, and the full one beside the results."""
    parser = argparse.ArgumentParser(prog="python -m experiments.page")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, default=PAGE)
    chosen = parser.parse_args(arguments)
    chosen.page.write_text(text(chosen.results), encoding="utf-8")
    drawn = os.path.relpath(chosen.page.parent / "figures", chosen.results)
    (chosen.results / FULL).write_text(full(chosen.results, drawn), encoding="utf-8")


if __name__ == "__main__":
    main()
