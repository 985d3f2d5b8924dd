"""What the paper prints: the numbers of its text and tables, each with its place.

Figures have no printed numbers; what the paper says of them is in `claims`.
"""

from __future__ import annotations

# Section 4.2
PATH_STEPS = 13
BIC_STEP = 5  # around which the BIC is smallest
DENSE_EXTRA = 0.25  # more iterations when every beta starts from the dense solution
RANDOM_RATIO = 10  # "roughly ten times more", from ten random starts

# Section 4.3
DENSE_ITERATIONS = 500  # median, at least, for K >= 2
PATH_ITERATIONS = 10_000  # median, at most
ITERATIONS_RATIO = 20
STEPS = 150  # median, at least, for K >= 2

# Section 5.3, agreement with the classes after starting from them
FROM_CLASSES = {"skmeans": 0.835, "shared": 0.837, "free": 0.818}

# Section 5.3, confusion matrix: classes in rows, clusters of spherical k-means in columns
CONFUSION = ((71, 26, 3, 1), (0, 70, 1, 0), (0, 1, 176, 1), (0, 2, 5, 118))

# Section 5.3, adjusted Rand index of dense models: mean and standard deviation
DENSE = {
    2: {
        "skmeans": (0.471, 4.52e-3),
        "shared": (0.344, 2.95e-3),
        "free": (0.395, 3.28e-4),
        "dbmovmfs": (0.442, 6.28e-2),
    },
    3: {
        "skmeans": (0.757, 1.31e-2),
        "shared": (0.756, 3.83e-3),
        "free": (0.567, 1.89e-2),
        "dbmovmfs": (0.772, 7.35e-3),
    },
    4: {
        "skmeans": (0.802, 1.77e-2),
        "shared": (0.804, 1.22e-2),
        "free": (0.519, 4.48e-2),
        "dbmovmfs": (0.803, 1.72e-2),
    },
    5: {
        "skmeans": (0.659, 4.05e-2),
        "shared": (0.650, 2.11e-2),
        "free": (0.497, 8.78e-2),
        "dbmovmfs": (0.716, 4.06e-2),
    },
    6: {
        "skmeans": (0.572, 4.59e-2),
        "shared": (0.569, 2.24e-2),
        "free": (0.520, 9.51e-2),
        "dbmovmfs": (0.663, 4.15e-2),
    },
    7: {
        "skmeans": (0.535, 5.21e-2),
        "shared": (0.493, 2.82e-2),
        "free": (0.463, 8.28e-2),
        "dbmovmfs": (0.625, 5.18e-2),
    },
    8: {
        "skmeans": (0.481, 4.99e-2),
        "shared": (0.448, 3.13e-2),
        "free": (0.441, 7.37e-2),
        "dbmovmfs": (0.588, 6.16e-2),
    },
}

# Section 5.3, adjusted Rand index of sparse models at K = 4
SPARSE = {
    "dbmovmfs": (0.803, 1.723e-2),
    "dense": (0.804, 1.217e-2),
    "aic": (0.807, 1.083e-2),
    "bic": (0.808, 9.483e-3),
    "ebic": (0.803, 7.687e-3),
    "ric": (0.797, 7.991e-3),
    "ricc": (0.750, 1.248e-2),
}

# Section 5.3, paired t-tests: the first is significantly better at this level, or no difference is
# significant
T_TESTS = (
    ("aic", "dense", 4, 0.01, True),
    ("bic", "dense", 4, 0.01, True),
    ("bic", "dbmovmfs", 4, 0.10, True),
    ("skmeans", "shared", 3, 0.01, False),
    ("skmeans", "shared", 4, 0.01, False),
    ("skmeans", "shared", 5, 0.01, False),
    ("skmeans", "shared", 6, 0.01, False),
    ("skmeans", "dbmovmfs", 2, 0.01, True),
)
