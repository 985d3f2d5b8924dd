"""What is recorded of runs, and how it is compared with goldens."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter

RELATIVE, ABSOLUTE = 1e-3, 1e-6
PLACES = {"x", "y"}  # of documents on the map, which many small steps find
NEAR = 0.05
OTHERS = 0.2  # share of documents that another kind of CPU, by its last digits, may place elsewhere
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?![\w])")
QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
ROUNDED = 4  # significant digits of goldens


# What is recorded


def read_tables(folder):
    """Return all tables of a run: by file, the cells by column."""
    found = {}
    for path in sorted(folder.rglob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        cells = {name: [row[i] for row in rows] for i, name in enumerate(header)}
        found[path.relative_to(folder).as_posix()] = cells
    return found


def is_float(cell):
    """Return whether a cell has a number that is not a whole one."""
    return bool(re.fullmatch(r"[-+]?(\d+\.\d*(e[-+]?\d+)?|\d+e[-+]?\d+|inf|nan)", cell))


def rounded(cell):
    """Return a cell as goldens have it."""
    return f"{float(cell):.{ROUNDED}g}" if is_float(cell) else cell


def facts(text, names=()):
    """Return what a sentence states: its numbers, what is quoted, and the names of groups in it."""
    left, found = text, []
    for name in sorted(names, key=len, reverse=True):
        found += [name] * left.count(name)
        left = left.replace(name, " ")
    found += [one or other for one, other in QUOTED.findall(left) if (one or other) not in names]
    numbers = (one.replace(",", "").lstrip("+") for one in NUMBER.findall(QUOTED.sub(" ", left)))
    return sorted([*found, *(f"{float(one):g}" for one in numbers)])


def said(text, names, hidden=()):
    """Return the facts of each line of a summary; lines that name files are left out."""
    lines = [line for line in text.splitlines() if not any(str(one) in line for one in hidden)]
    return sorted(found for line in lines if (found := facts(line, names)))


def page(content):
    """Return what a reader of the page sees, of the content of a report."""
    names, docs = content["names"], content["documents"]
    order = [int(k) for k in docs["group"]]
    words = content["words"]
    prototypes = content["prototypes"]
    stability, tree = content["stability"], content["tree"]
    return {
        "title": content["title"],
        "kind": content["kind"],
        "names": names,
        "sizes": [order.count(k) for k in range(len(names))],
        "nowhere": order.count(-1),
        "words": [[words[j] for j in (-row).argsort(kind="stable")[:5]] for row in prototypes],
        "contrast": None
        if content["contrast"] is None
        else [[word for word, _ in of[:5]] for of in content["contrast"]],
        "steps": [
            [one["step"], one["beta"], one["sparsity"], one["n_nonzero"], one["log_likelihood"]]
            for one in content["steps"]
        ],
        "chosen": content["chosen"],
        "candidates": [
            [one["n_groups"], one["chosen"], one["n_nonzero"], one["log_likelihood"]]
            for one in content["candidates"]
        ],
        "advice": sorted(_texts(content["advice"], names)),
        "remarks": sorted(facts(one["text"], names) for one in content["remarks"]),
        "agreement": [[one["column"], one["ari"]] for one in content["model"]["agreement"]],
        "stability": None if stability is None else [float(one) for one in stability["groups"]],
        "tree": None
        if tree is None
        else [tree["sizes"], tree["names"], [of[:3] for of in tree["words"]]],
        "ids": docs["id"],
        "typical": [[docs["id"][i] for i in of[:3]] for of in content["typical"]],
        "uncertain": [[docs["id"][i] for i in of[:1]] for of in content["ambiguous"]],
    }


def _texts(value, names):
    """Return the facts of all texts in the advice, and its numbers."""
    if isinstance(value, dict):
        return [found for one in value.values() for found in _texts(one, names)]
    if isinstance(value, list | tuple):
        return [found for one in value for found in _texts(one, names)]
    if isinstance(value, str):
        return [one for one in [facts(value, names)] if one]
    return [] if value is None or isinstance(value, bool) else [[f"{float(value):.3g}"]]


# What is compared


def same_number(one, other, near=ABSOLUTE):
    """Return whether two numbers are the same but for the last digits."""
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=near)


def same_cell(one, other, name=""):
    """Return whether two cells of a table are the same; texts and whole numbers exactly."""
    if one == other:
        return True
    if not is_float(one) and not is_float(other):
        return False
    try:
        return same_number(float(one), float(other), NEAR if name in PLACES else ABSOLUTE)
    except ValueError:
        return False


def compare_tables(golden, found):
    """Return what differs between the tables of a golden and those of a run, in lines."""
    if set(golden) != set(found):
        return [f"tables {sorted(found)}, and in the golden {sorted(golden)}"]
    different = []
    for file, cells in golden.items():
        if set(cells) != set(found[file]):
            missing, more = set(cells) - set(found[file]), set(found[file]) - set(cells)
            different.append(f"{file}: without {sorted(missing)}, with {sorted(more)}")
        for name in set(cells) & set(found[file]):
            old, new = cells[name], found[file][name]
            if len(old) != len(new):
                different.append(f"{file}: {name} has {len(new)} rows, in the golden {len(old)}")
                continue
            other = [i for i in range(len(old)) if not same_cell(old[i], new[i], name)]
            if len(other) > (OTHERS * len(old) if name in PLACES else 0):
                i = other[0]
                different.append(
                    f"{file}: {name}, row {i}: {new[i]!r}, in the golden {old[i]!r}"
                    f" ({len(other)} rows differ)"
                )
    return different


def compare_values(golden, found, where=""):
    """Return what differs between two values of JSON, in lines."""
    if isinstance(golden, dict) and isinstance(found, dict) and set(golden) == set(found):
        return [
            line
            for name in golden
            for line in compare_values(golden[name], found[name], f"{where}.{name}")
        ]
    if isinstance(golden, list) and isinstance(found, list) and len(golden) == len(found):
        return [
            line
            for i, (one, other) in enumerate(zip(golden, found, strict=True))
            for line in compare_values(one, other, f"{where}[{i}]")
        ]
    if isinstance(golden, float) or isinstance(found, float):
        numbers = all(isinstance(one, int | float) for one in (golden, found))
        return [] if numbers and same_number(golden, found) else [f"{where}: {found}, {golden}"]
    return [] if golden == found else [f"{where}: {found!r}, and in the golden {golden!r}"]


def compare_lines(golden, found):
    """Return what one summary states and the other does not."""
    old, new = (Counter(map(tuple, lines)) for lines in (golden, found))
    lost = [f"no longer said: {list(line)}" for line in old - new]
    return lost + [f"said, and not in the golden: {list(line)}" for line in new - old]
