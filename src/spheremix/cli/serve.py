"""``spheremix serve``: the report of a run on this machine, with edits that are applied by a click.

A ``Desk`` makes the edits, one at a time, and says how far it is; the HTTP server in front of it
listens on loopback only. Whoever asks must know the token of the address, must have asked for this
host by a name of this machine, and must be this page: so other pages in the browser, other users
and other machines get nothing. No file is read by a name that a request has.
"""

# ruff: noqa: PLC0415 (help does not wait for SciPy: what works is loaded when there is work)
from __future__ import annotations

import hmac
import json
import os
import re
import secrets
import tempfile
import threading
import webbrowser
import zlib
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qs

import typer

from spheremix.cli import flags  # noqa: TC001 (typer reads the annotations)
from spheremix.cli.console import remark, say
from spheremix.cli.guard import guarded, sentence_of
from spheremix.run import Listener

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spheremix.report.sample import Catalogue

HOST = "127.0.0.1"
MOST_BYTES = 20_000_000  # of edits
LISTED = 50  # documents that are asked for at once
IDLE = 30  # seconds that a connection may say nothing
PATIENCE = 20.0  # seconds that an edit may take to notice that it is to stop
PORTS = range(
    20_000, 40_000
)  # in which a run has its own, so that the browser knows its edits again
LIST = re.compile(r"documents\?strata=([0-9]{1,5}(?:,[0-9]{1,5})*)&start=([0-9]{1,9})")
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@guarded()
def serve(
    run: flags.Run,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Port.  \n[default: one of the run, where it is free]"),
    ] = None,
    threads: flags.Threads = None,
    open_page: flags.Open = False,
    mcp: Annotated[
        bool,
        typer.Option(
            "--mcp",
            help="Answer programs, such as assistants with a language model, by the Model Context "
            "Protocol: on standard input and output, or with --port at an address of this machine.",
        ),
    ] = False,
    edit: Annotated[
        bool,
        typer.Option("--edit", help="With --mcp: let programs rename, merge and split groups."),
    ] = False,
) -> None:
    """Show the report of a run at an address of this machine, where edits are applied by a click.

    Only this machine can reach it, and only with the address that is printed. Ctrl-C stops it; an
    edit that is being made then leaves the run as it was.
    """
    from spheremix.run.run import load_run

    load_run(run)  # says what it is instead
    if mcp:
        from spheremix.cli.programs import serve_programs

        serve_programs(run, port, edit=edit)
        return
    if edit:
        raise ValueError("--edit is for programs: add --mcp. The page can be edited without it.")
    with Server(Desk(run, threads), port) as server:
        say(server.address, whole=True)
        remark("Edits of this page are applied to the run. Ctrl-C stops it.")
        if open_page and not webbrowser.open(server.address):
            remark("no browser was found: open this address.")
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            remark("stopped.")


# What makes the edits


@dataclass(frozen=True, slots=True)
class Progress:
    """What is being done, or how the last edits ended."""

    state: str = "idle"  # or working, done, refused
    what: str = ""
    share: float = 0.0
    message: str = ""


class Desk(Listener):
    """Makes edits to the run in a folder, one after the other, beside whoever asks for them."""

    def __init__(self, folder: Path, threads: int | None = None) -> None:
        self.folder = folder
        self.threads = threads
        self.now = Progress()
        self._busy = threading.Lock()
        self._stop = threading.Event()
        self._worker: threading.Thread | None = None
        self._reading = threading.Lock()
        self._catalogue: Catalogue | None = None  # of the run as it is, once it was asked for

    def page(self) -> str:
        """Return the page of the run, as it is served."""
        from spheremix.report.html import served
        from spheremix.run.folder.schema import PAGE

        return served((self.folder / PAGE).read_text("utf-8"))

    @contextmanager
    def reading(self) -> Iterator[Catalogue]:
        """Hold what answers with documents of the run as it is."""
        from spheremix.report.sample import Catalogue
        from spheremix.run.run import load_run

        with self._reading:
            if self._catalogue is None:
                self._catalogue = Catalogue(load_run(self.folder))
            yield self._catalogue

    def edit(self, edits: bytes) -> bool:
        """Begin to make edits, as a file has them; return whether nothing else was being done."""
        if not self._busy.acquire(blocking=False):
            return False
        self.now = Progress("working", "Reading the run")
        self._worker = threading.Thread(target=self._make, args=(edits,), daemon=True)
        self._worker.start()
        return True

    def close(self) -> None:
        """Stop what is being done, which then leaves the run as it was."""
        self._stop.set()
        if self._worker is not None:
            self._worker.join(PATIENCE)
            if self._worker.is_alive():  # a stage is written when it is complete, or not at all
                os._exit(1)

    def _make(self, edits: bytes) -> None:
        from spheremix.run.explore import edit_run

        try:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "edits.json"
                file.write_bytes(edits)
                edit_run(self.folder, file, listener=self, threads=self.threads)
            with self._reading:
                self._catalogue = None
            self.now = Progress("done")
            remark("edits were applied.")
        except KeyboardInterrupt:
            self.now = Progress("refused", message="The server was stopped.")
        except Exception as error:  # noqa: BLE001 (whatever it is, the page says it)
            self.now = Progress("refused", message=sentence_of(error))
            remark(f"edits were refused: {self.now.message}")
        finally:
            self._busy.release()

    def _go_on(self) -> None:
        if self._stop.is_set():
            raise KeyboardInterrupt

    def begin(self, what: str) -> None:
        """Hear that a stage begins."""
        self._go_on()
        self.now = Progress("working", what)

    def update(self, share: float, detail: str = "") -> None:  # noqa: ARG002 (of the interface)
        """Hear which share of the stage is done."""
        self._go_on()
        self.now = Progress("working", self.now.what, round(max(share, self.now.share), 4))

    def note(self, message: Any) -> None:
        """Hear what the page of the run says too."""


# Who may ask for them


class Server(ThreadingHTTPServer):
    """The page of a run and its edits, on loopback."""

    daemon_threads = True

    def __init__(self, desk: Desk, port: int | None = None) -> None:
        self.desk = desk
        self.token = secrets.token_urlsafe(24)
        own = PORTS[zlib.crc32(os.fsencode(desk.folder.resolve())) % len(PORTS)]
        try:
            super().__init__((HOST, own if port is None else port), Handler)
        except OSError:
            if port is not None:
                raise
            super().__init__((HOST, 0), Handler)
        self.hosts = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def server_close(self) -> None:
        """Close the door, and stop what is being done."""
        super().server_close()
        self.desk.close()


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "spheremix", ""
    timeout = IDLE

    def do_GET(self) -> None:
        """Answer with the page, with the progress of an edit, or with documents."""
        what = self._asked()
        if what == "":
            page = self.server.desk.page().encode()
            self._answer(HTTPStatus.OK, page, "text/html; charset=utf-8")
        elif what == "progress":
            self._say(HTTPStatus.OK, **asdict(self.server.desk.now))
        elif what is not None and what.startswith(("documents?", "texts?")):
            self._read(what)
        elif what is not None:
            self._say(HTTPStatus.NOT_FOUND, message="There is no such page.")

    def _read(self, what: str) -> None:
        """Answer with a page of all documents of a group, or with whole texts."""
        listed = LIST.fullmatch(what)
        ids = parse_qs(what.removeprefix("texts?")).get("id", [])
        if listed is None and (what.startswith("documents?") or not 0 < len(ids) <= LISTED):
            self._say(HTTPStatus.BAD_REQUEST, message="These are no documents.")
            return
        try:
            with self.server.desk.reading() as catalogue:
                if listed is None:
                    self._say(HTTPStatus.OK, texts=catalogue.texts(ids))
                    return
                strata = [int(one) for one in listed[1].split(",")]
                self._say(HTTPStatus.OK, **catalogue.list(strata, int(listed[2]), LISTED))
        except Exception as error:  # noqa: BLE001 (whatever it is, the page says it)
            self._say(HTTPStatus.INTERNAL_SERVER_ERROR, message=sentence_of(error))

    def do_POST(self) -> None:
        """Take edits."""
        what = self._asked()
        data = None if what is None else self._body()
        if data is None:
            return
        if what != "edits":
            self._say(HTTPStatus.NOT_FOUND, message="There is no such page.")
        elif self.server.desk.edit(data):
            self._say(HTTPStatus.ACCEPTED, message="")
        else:
            message = "Other edits are being applied: wait until they are done."
            self._say(HTTPStatus.CONFLICT, message=message)

    def _asked(self) -> str | None:
        """Return what is asked for by somebody who may; None where the answer is no."""
        own = f"http://{self.headers.get('Host', '')}"
        known = self.headers.get("Host", "") in self.server.hosts
        same = self.headers.get("Origin", own) == own
        same &= self.headers.get("Sec-Fetch-Site", "none") in {"same-origin", "none"}
        token, _, what = self.path.removeprefix("/").partition("/")
        allowed = hmac.compare_digest(token.encode(), self.server.token.encode())
        if allowed and known and same:
            return what
        self._say(HTTPStatus.FORBIDDEN, message="Open the address that spheremix serve printed.")
        return None

    def _body(self) -> bytes | None:
        """Read what is sent; None where it is no edits."""
        length = self.headers.get("Content-Length", "")
        kind = self.headers.get_content_type()
        if kind != "application/json" or not length.isdecimal() or int(length) > MOST_BYTES:
            self._say(HTTPStatus.BAD_REQUEST, message="These are no edits.")
            return None
        return self.rfile.read(int(length))

    def _say(self, status: HTTPStatus, **content: Any) -> None:
        self._answer(status, json.dumps(content).encode(), "application/json")

    def _answer(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if status in {HTTPStatus.FORBIDDEN, HTTPStatus.BAD_REQUEST}:  # what follows was not read
            self.close_connection = True
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (of the base class)
        """Say nothing: a line of a log would have the token."""
