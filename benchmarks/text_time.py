"""How long it takes to read documents and to count their words.

Run as ``python benchmarks/text_time.py``; it needs the folder of real data, named by
SPHEREMIX_DATA. ``--save`` writes ``benchmarks/results/text_time.txt``. Times are processor time of
one thread, the least of three rounds in new processes, lemmas included: what other programs do on
the machine matters less than for time on the clock.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from timing import DATA, ROOT, machine

TARGET = ROOT / "benchmarks" / "results" / "text_time.txt"
CORPORA = ("bbc_news", "sec8k_stanford")
ROUNDS = 3
# In a process of its own: dictionaries and forms that are known already cost nothing.
CODE = """
import sys, time
from spheremix.text import TextVectorizer, read_documents
before = time.process_time()
corpus = read_documents(sys.argv[1])
read = time.process_time()
counts = TextVectorizer().fit_count(corpus.texts)
print(read - before, time.process_time() - read, *counts.shape, counts.nnz)
"""


def measure(name: str) -> list[float]:
    """Return the seconds of reading and of counting, the documents, the words and the entries."""
    path = DATA / name / "docs.jsonl.gz"
    rounds = []
    for _ in range(ROUNDS):
        command = [sys.executable, "-c", CODE, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
        rounds.append([float(value) for value in done.stdout.split()])
    return min(rounds, key=lambda one: one[0] + one[1])


def main() -> None:
    """Measure, and print or save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", action="store_true", help=f"write {TARGET.name}")
    arguments = parser.parse_args()
    lines = [f"{machine()}; processor seconds, least of {ROUNDS}", ""]
    lines.append(
        f"{'corpus':16}{'documents':>10}{'words':>8}{'entries':>11}{'read':>7}{'count':>7}"
    )
    for name in CORPORA:
        read, count, n, d, entries = measure(name)
        numbers = f"{n:>10,.0f}{d:>8,.0f}{entries:>11,.0f}{read:>7.2f}{count:>7.2f}"
        lines.append(f"{name:16}{numbers}")
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.save:
        TARGET.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
