"""Item codes of filings from the shares of their groups, beside topic models.

Run as ``python benchmarks/filings.py``; it needs the folder of real data, named by SPHEREMIX_DATA,
and compares with the package topica where it is installed. ``python benchmarks/filings.py here``
makes one method only, and keeps it in ``benchmarks/results/filings.json``, so that several
processes can work. It writes ``benchmarks/results/filings.md``.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
import warnings
from typing import NamedTuple

import numpy as np
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from timing import DATA, ROOT

import spheremix as sm

try:
    import topica
except ImportError:
    topica = None

TARGET = ROOT / "benchmarks" / "results" / "filings.md"
KEPT = ROOT / "benchmarks" / "results" / "filings.json"
N_FILINGS = 3000
SEED = 7
NUMBERS = (10, 20)  # of groups, the same for every method
FEWEST = 30  # filings that a code needs
NOTE = [
    f"{N_FILINGS:,} filings, drawn at random, have one to eight item codes each. Codes of fewer",
    f"than {FEWEST} of them are left out. Each method gives shares of as many groups; from these a",
    "logistic regression for each code, the same for every method, predicts the codes of filings",
    "that it has not seen (five folds). F1: over all pairs of filing and code (micro), and the",
    "mean over codes (macro). Whole: posteriors of `VMFMixture` on whole filings. Shares:",
    "`sm.document_shares` of passages of about 80 words. NMF on tf-idf and LDA on counts are",
    "scikit-learn's. LDA by Gibbs sampling and the structural topic model (STM; the year is its",
    "covariate) are topica's, as they are by default. Seconds of the processor, on a shared",
    "machine.",
]


class Corpus(NamedTuple):
    """Texts, and what the structural topic model knows beside."""

    texts: list[str]
    years: np.ndarray


def filings():
    """Return filings, and a matrix of their codes."""
    with gzip.open(DATA / "sec8k_stanford" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        every = [one for one in map(json.loads, lines) if one["text"].strip() and one["labels"]]
    drawn = np.random.default_rng(SEED).permutation(len(every))[:N_FILINGS]
    found = [every[i] for i in drawn]
    names = sorted({code for one in found for code in one["labels"]})
    codes = np.array([[code in one["labels"] for code in names] for one in found])
    codes = codes[:, codes.sum(axis=0) >= FEWEST].astype(int)
    years = np.array([int(one["date"][:4]) for one in found])
    return Corpus([one["text"] for one in found], years), codes


def judged(shares, codes):
    """Return the F1 of the codes predicted for filings that were not seen."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    folds = KFold(5, shuffle=True, random_state=SEED)
    found = cross_val_predict(OneVsRestClassifier(model), shares, codes, cv=folds)
    return {
        "micro": float(f1_score(codes, found, average="micro")),
        "macro": float(f1_score(codes, found, average="macro", zero_division=0.0)),
    }


def shares_here(corpus, K):
    passages = sm.text.split(corpus.texts, 80)
    rows = sm.text.vectorize(passages.texts)
    of, lengths = passages.documents[rows.rows], passages.n_words[rows.rows]
    mixture = sm.VMFMixture(K, random_state=SEED, n_threads=1).fit(rows.X)
    found = sm.document_shares(mixture, rows.X, of, lengths=lengths)
    shares = np.tile(mixture.weights_, (len(corpus.texts), 1))
    shares[found.documents] = found.shares
    return shares


def whole(corpus, K):
    rows = sm.text.vectorize(corpus.texts)
    mixture = sm.VMFMixture(K, random_state=SEED, n_threads=1).fit(rows.X)
    shares = np.tile(mixture.weights_, (len(corpus.texts), 1))
    shares[rows.rows] = mixture.predict_proba(rows.X)
    return shares


WORDS = {"stop_words": "english", "min_df": 3, "max_df": 0.5}


def nmf(corpus, K):
    weighted = TfidfVectorizer(**WORDS, sublinear_tf=True).fit_transform(corpus.texts)
    return NMF(K, random_state=SEED, init="nndsvda", max_iter=400).fit_transform(weighted)


def lda(corpus, K):
    counts = CountVectorizer(**WORDS).fit_transform(corpus.texts)
    return LatentDirichletAllocation(K, random_state=SEED, max_iter=20).fit_transform(counts)


def tokens_of(texts):
    counter = CountVectorizer(**WORDS).fit(texts)
    known, cut = counter.vocabulary_, counter.build_analyzer()
    return [[word for word in cut(text) if word in known] or ["none"] for text in texts]


def gibbs(corpus, K):
    model = topica.LDA(K, seed=SEED)
    model.fit(tokens_of(corpus.texts), num_threads=1)
    return np.asarray(model.doc_topic)


def stm(corpus, K):
    model = topica.STM(K, seed=SEED)
    by = (corpus.years - corpus.years.mean())[:, None] / corpus.years.std()
    model.fit(tokens_of(corpus.texts), prevalence=by, num_threads=1)
    return np.asarray(model.doc_topic)


METHODS = {
    "whole": whole,
    "NMF": nmf,
    "LDA": lda,
    "LDA by Gibbs sampling": gibbs,
    "STM": stm,
    "shares": shares_here,
}


def main():
    warnings.simplefilter("ignore")
    corpus, codes = filings()
    for name in sys.argv[1:] or METHODS:
        if topica is None and name in {"STM", "LDA by Gibbs sampling"}:
            continue
        for K in NUMBERS:
            key = f"{name}, {K}"
            kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
            if key not in kept:
                begin = time.process_time()
                shares = METHODS[name](corpus, K)
                seconds = time.process_time() - begin
                one = {**judged(shares, codes), "seconds": seconds, "codes": codes.shape[1]}
                kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
                kept[key] = one
                KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
                print(key, one, flush=True)
    write(json.loads(KEPT.read_text()))


def write(kept):
    lines = ["# Item codes of filings", "", "Made by `python benchmarks/filings.py`.", *NOTE, ""]
    lines += ["| groups | method | F1, micro | F1, macro | seconds |", "|---|---|---|---|---|"]
    for K in NUMBERS:
        for name in METHODS:
            if one := kept.get(f"{name}, {K}"):
                lines.append(
                    f"| {K} | {name} | {one['micro']:.3f} | {one['macro']:.3f} "
                    f"| {one['seconds']:.0f} |"
                )
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
