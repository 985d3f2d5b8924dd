"""
Everything the command does, from a notebook
============================================

``sm.explore_corpus`` does what the command ``spheremix explore`` does: it groups documents and
writes a folder with tables, models and a report. It returns a ``Run``. This example explores the
documentation of scipy, looks at the tables, puts new texts into the groups, and makes the report.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import spheremix as sm

# %%
# From texts to groups
# --------------------
#
# The source is a list of texts here. It can also be the name of a CSV, JSON lines or Parquet file,
# a folder of text files, or a matrix. The options are those of the command, with underscores
# instead of dashes: ``k`` is the number of clusters, and ``k="2:20"`` would try several numbers.
# If the call is interrupted, the same call continues where it was.

corpus = sm.datasets.load_docstrings()
texts = [
    text for text, name in zip(corpus.texts, corpus.ids, strict=True) if name.startswith("scipy")
]
folder = tempfile.TemporaryDirectory()  # in a notebook: a folder of your own, as "scipy-run"
options = {"k": 6, "starts": 3, "lemmatizer": "none", "min_relative_increase": 0.05}
run = sm.explore_corpus(texts, Path(folder.name) / "run", **options)
print(run)

# %%
# The tables
# ----------
#
# ``run.groups``, ``run.documents`` and ``run.words`` are dictionaries of columns. In a notebook
# they show themselves as tables, and ``pandas.DataFrame(run.groups)`` makes a data frame.

groups, documents = run.groups, run.documents
for size, name, words in zip(groups["size"], groups["name"], groups["words"], strict=True):
    first = ", ".join(words.split(", ")[:5])
    print(f"{size:4}  {name:32}  {first}")

# %%
# The cosine tells how typical a document is for its group, the log-odds how much better its
# group fits than the second one. Documents with small log-odds lie between two groups.

figure, ax = plt.subplots(figsize=(9.0, 4.4), layout="constrained")
group, cosine = np.array(documents["group"]), np.array(documents["cosine"])
log_odds = np.array(documents["log_odds"])
for number, name in zip(groups["group"], groups["name"], strict=True):
    mine = group == number
    ax.scatter(cosine[mine], log_odds[mine], s=9, lw=0, alpha=0.7, label=name)
ax.set(xlabel="cosine with the prototype", ylabel="log-odds against the second group")
ax.legend(frameon=False, fontsize=8, markerscale=2)
ax.spines[["top", "right"]].set_visible(False)

between = int(log_odds.argmin())
print(f"Between two groups, {log_odds[between]:.1f}: {texts[between].splitlines()[0]}")

# %%
# New texts
# ---------
#
# ``run.assign`` puts new texts, or a file of them, into the groups of the run. The table that it
# returns has the columns of ``run.documents``.

new = [
    "Solve a sparse linear system with conjugate gradients.",
    "Draw samples from a gamma distribution.",
    "Apply a low-pass filter to a signal.",
]
assigned = run.assign(new)
for text, name, odds in zip(new, assigned["name"], assigned["log_odds"], strict=True):
    print(f"{text:56}  {name}  (log-odds {odds:.1f})")

# %%
# The models and the description
# ------------------------------
#
# ``run.mixture`` and ``run.path`` are fitted estimators. ``run.info`` has the content of
# ``run.json``: the options, the versions, where the documents come from.

display = sm.PrototypesDisplay.from_estimator(run.path, run.feature_names)
print(f"beta {run.mixture.beta:.0f}, {np.mean(run.mixture.prototypes_ == 0.0):.0%} of zeros")
print(run.info.corpus.n_documents, "documents,", run.info.n_groups, "groups")

# %%
# The report
# ----------
#
# ``run.report()`` as the last line of a cell shows the report in the notebook. The folder has it
# as a file already, which opens in any browser.

page = run.report()
print(sorted(path.name for path in run.folder.iterdir()))
folder.cleanup()
