"""What the tests of edits share: a small run, and the bytes of a folder."""

from __future__ import annotations

import hashlib
import json

from listening import Told

import spheremix as sm

OPTIONS = {"k": 3, "starts": 1, "max_steps": 4, "lemmatizer": "none", "threads": 1}


def explore(corpus, folder, **more):
    """Explore; give the run and what was said."""
    told = Told()
    run = sm.explore_corpus(corpus, folder, listener=told, **{**OPTIONS, **more})
    return run, told


def edits_of(run, **parts):
    """Return edits of a run as the report exports them."""
    return {"format": "spheremix edits", "version": 1, "run": run.info.fit, **parts}


def write_edits(path, run, **parts):
    path.write_text(json.dumps(edits_of(run, **parts)), encoding="utf-8")
    return path


def contents(folder):
    """Return the digest of each file but of the cache, which may keep more than the run needs.

    Where pages differ, pytest would compare their lines for ever.
    """
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in sorted(names - {".lock"})
        if not name.startswith("cache/")
    }
