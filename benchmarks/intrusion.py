"""Word intrusion: a test whether readers find the word that does not belong to a cluster.

``python benchmarks/intrusion.py`` fits the cases of ``words.py`` whose words are known and writes a
questionnaire to ``benchmarks/results/intrusion.txt``, for readers who see nothing else, and its key
to ``intrusion_key.json``. Each question has five characteristic words of one cluster and one
intruder, shuffled: a characteristic word of another cluster that is not among the first words of
this one. ``python benchmarks/intrusion.py --score answers.txt`` compares answers, one line a
question such as ``12 goalkeeper``, with the key, and prints the share that was found; by chance it
is one in six. The questions are those of Chang et al., "Reading tea leaves" (2009).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from timing import ROOT

if TYPE_CHECKING:
    from spheremix.reading import Vocabulary

QUESTIONS = ROOT / "benchmarks" / "results" / "intrusion.txt"
KEY = ROOT / "benchmarks" / "results" / "intrusion_key.json"
SHOWN = 5  # words of the cluster
FAR = 50  # an intruder is not among so many first words of the cluster
SEED = 0
HEAD = """Each line has six words. Five of them belong to one subject, and one does not.
Write for each line its number and the word that does not belong, as: 12 goalkeeper
"""


def ask(case: str, vocabulary: Vocabulary, draw: np.random.Generator) -> list[dict]:
    """Make a question of each cluster that has enough words."""
    first = [[one.word for one in vocabulary.words(k, FAR)] for k in range(len(vocabulary.support))]
    questions = []
    for k, words in enumerate(first):
        others = [
            word
            for other, several in enumerate(first)
            for word in several[:SHOWN]
            if other != k and word not in words
        ]
        if len(words) < SHOWN or not others:
            continue
        intruder = str(draw.choice(others))
        shown = [str(word) for word in draw.permutation([*words[:SHOWN], intruder])]
        questions.append({"case": case, "cluster": k, "words": shown, "intruder": intruder})
    return questions


def write(questions: list[dict]) -> None:
    """Write the questions for readers, and the key apart."""
    lines = [f"{i}  {'  '.join(one['words'])}" for i, one in enumerate(questions, 1)]
    QUESTIONS.write_text(HEAD + "\n" + "\n".join(lines) + "\n", "utf-8")
    KEY.write_text(json.dumps(questions, indent=1, ensure_ascii=False) + "\n", "utf-8")


def read_answers(text: str) -> dict[int, str]:
    """Return the answers by the number of the question; refuse what is no answer."""
    answers: dict[int, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        number, _, word = line.partition(" ")
        number = number.rstrip(".:")
        if not number.isdigit() or not word.strip():
            raise ValueError(f"No answer: {line!r}. Write a number and a word, as 12 goalkeeper.")
        if int(number) in answers:
            raise ValueError(f"Question {number} has two answers.")
        answers[int(number)] = word.strip()
    return answers


def score(questions: list[dict], answers: dict[int, str]) -> dict[str, tuple[int, int]]:
    """Count the intruders found and the questions, by case and in all; no answer is not found."""
    unknown = sorted(set(answers) - set(range(1, len(questions) + 1)))
    if unknown:
        raise ValueError(f"There is no question {unknown[0]}: they are 1 to {len(questions)}.")
    found: dict[str, tuple[int, int]] = {}
    for i, one in enumerate(questions, 1):
        answer = answers.get(i)
        if answer is not None and answer not in one["words"]:
            raise ValueError(f"Question {i} has no word {answer!r}: {', '.join(one['words'])}.")
        for case in (one["case"], "all"):
            right, asked = found.get(case, (0, 0))
            found[case] = (right + (answer == one["intruder"]), asked + 1)
    return found


def main() -> None:
    """Write the questionnaire, or score answers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--score", type=Path, metavar="FILE", help="answers, one a line")
    arguments = parser.parse_args()
    if arguments.score is None:
        from words import CASES, fit, load_texts  # noqa: PLC0415 (scoring needs no data)

        draw = np.random.default_rng(SEED)
        questions = []
        for case, (name, K) in CASES.items():
            texts = load_texts(name)
            if not texts.words[0].startswith("column"):  # else the words are not known
                questions += ask(case, fit(texts, K).vocabulary, draw)
                print(f"{case}: {len(questions)} questions so far", flush=True)
        order = draw.permutation(len(questions))
        write([questions[i] for i in order])
        return
    try:
        answers = read_answers(arguments.score.read_text("utf-8"))
        found = score(json.loads(KEY.read_text("utf-8")), answers)
    except (OSError, ValueError) as error:
        sys.exit(f"{arguments.score}: {error}")
    for case, (right, asked) in found.items():
        print(f"{case}: {right} of {asked} found, {right / asked:.0%}")


if __name__ == "__main__":
    main()
