"""Where an edited run comes from: kept beside it, so that it can be edited without its input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spheremix.run.command import versions
from spheremix.run.edit_schema import OriginRecord
from spheremix.run.folder import ORIGIN
from spheremix.run.keys import key_of
from spheremix.run.names import AUTOMATIC, GivenNames
from spheremix.run.schema import CorpusRecord
from spheremix.run.store import RunError
from spheremix.run.typed import encode
from spheremix.text import Corpus

if TYPE_CHECKING:
    from spheremix.run.folder import RunFolder
    from spheremix.run.prepare import Material
    from spheremix.run.run import Run
    from spheremix.text import Matrix


def new_origin(
    material: Material,
    command: dict[str, Any],
    source: Corpus | Matrix,
    names: GivenNames | None,
) -> OriginRecord:
    """Return where a run comes from that is being explored."""
    beside = source if isinstance(source, Corpus) else source.documents
    return OriginRecord(
        command=command,
        versions=versions(),
        corpus=CorpusRecord(
            source=source.source,
            format=source.format,
            checksum=source.checksum,
            texts=None if beside is None or beside is source else beside.source,
            notes=list(source.notes),
            n_documents=material.n_documents,
            n_set_aside=len(material.reasons),
        ),
        names={} if names is None else names.names,
        names_source="" if names is None else names.source,
        names_fit=names.fit if names is not None and names.recorded else None,
    )


def origin_of(run: Run, corpus: CorpusRecord) -> OriginRecord:
    """Return where a run comes from that was explored and not edited."""
    named = {k: one for k, one in enumerate(run.manifest.names or []) if one.source != AUTOMATIC}
    return OriginRecord(
        command=run.manifest.command,
        versions=run.manifest.versions,
        corpus=corpus,
        names={k: one.name for k, one in named.items()},
        names_source=next((one.source for one in named.values()), ""),
    )


def recorded_names(origin: OriginRecord) -> GivenNames | None:
    """Return the names of an origin, which belong to the groups that had them."""
    asked = origin.command.get("names")
    known = origin.names or origin.names_fit is not None
    if isinstance(asked, dict) and not asked.get("names") and not known:
        raise RunError(
            f"The names of this run come from the function {origin.names_source}, which was not "
            "asked before the run was stopped: call explore_corpus again, as before."
        )
    if not origin.names:
        return None
    return GivenNames(origin.names_source, origin.names, fit=origin.names_fit, recorded=True)


def keep_origin(folder: RunFolder, origin: OriginRecord) -> None:
    """Write what an edited run needs to be edited further, or to go back, without its input."""
    key = key_of(encode(origin))
    if folder.key(ORIGIN) != key:
        folder.begin()
        folder.remove(ORIGIN)
        folder.commit(ORIGIN, key, folder.writer(), origin)
