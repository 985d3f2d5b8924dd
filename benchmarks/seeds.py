"""Groups that were asked for by words: how many documents they find.

``SPHEREMIX_DATA=FOLDER python benchmarks/seeds.py`` writes results/seeds.md: three words for each
of the five classes of the news of the BBC, chosen once and before the first fit; what a mixture
with these seeds finds, what the words alone find, and a mixture without them.
"""

from __future__ import annotations

import numpy as np
from corpora import texts_of
from sklearn.metrics import adjusted_rand_score
from timing import ROOT

import spheremix as sm
from spheremix.text import vectorize

WORDS = {
    "business": ["market", "bank", "economy"],
    "entertainment": ["film", "music", "award"],
    "politics": ["labour", "election", "minister"],
    "sport": ["match", "cup", "player"],
    "tech": ["software", "computer", "mobile"],
}


def main():
    texts, labels = texts_of("bbc_news")
    counted, truth = vectorize(texts), np.array(labels)
    place = {word: column for column, word in enumerate(counted.words)}
    missing = [word for own in WORDS.values() for word in own if word not in place]
    seeds = {name: [place[word] for word in own if word in place] for name, own in WORDS.items()}
    names = np.array(list(WORDS))
    sums = np.column_stack([counted.X[:, own].sum(axis=1) for own in seeds.values()])
    alone = names[sums.argmax(axis=1)]
    alone[sums.max(axis=1) == 0] = "no word"
    lines = [
        "# Groups that were asked for by words",
        "",
        f"{len(truth):,} news of the BBC, 5 classes, {counted.X.shape[1]:,} words, three words for",
        f"each class; {', '.join(missing)} are not in the vocabulary. `python benchmarks/seeds.py`",
        "",
        "| groups | in the class of their name | ARI |",
        "|---|---|---|",
    ]
    found = {"the words alone, most of them": alone}
    for weight in (0.05, 0.2, 1.0):
        fitted = sm.VMFMixture(5, seeds=seeds, seed_weight=weight, random_state=0).fit(counted.X)
        found[f"seeds, weight {weight}"] = names[fitted.labels_]
    for name, own in found.items():
        ari = adjusted_rand_score(truth, own)
        lines.append(f"| {name} | {np.mean(own == truth):.3f} | {ari:.3f} |")
    free = sm.VMFMixture(5, random_state=0).fit(counted.X).labels_
    lines.append(f"| no seeds | no names | {adjusted_rand_score(truth, free):.3f} |")
    none = np.mean(alone == "no word")
    lines += ["", f"Of the documents {100 * none:.0f} % have none of the words."]
    target = ROOT / "benchmarks" / "results" / "seeds.md"
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(target.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
