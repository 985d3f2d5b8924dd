"""``spheremix serve --mcp``: a program asks a run over the protocol, in a process of its own.

The answers to its questions are compared with the tables that the run wrote, and with the texts.
"""

from __future__ import annotations

import asyncio
import csv
import os
import shutil
import socket
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from contextlib import asynccontextmanager, closing

import pytest
from cli_common import refusal, texts, write_lines
from edit_common import explore
from serving import served

import spheremix as sm
from spheremix.cli.programs import Tools

mcp = pytest.importorskip("mcp")


class Told:
    """What the tables of a run and its texts say, read without the library."""

    def __init__(self, folder, documents):
        self.folder = folder
        self.documents = self.table("documents.csv")
        self.groups = self.table("groups.csv")
        self.texts = {one["id"]: one["text"] for one in documents}

    def table(self, name):
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def of(self, group):
        return [one for one in self.documents if one["group"] == str(group)]

    @property
    def largest(self):
        return max(self.groups, key=lambda one: int(one["size"]))

    def holding(self, *words):
        found = [i for i, text in self.texts.items() if all(one in text.lower() for one in words)]
        by_id = {one["id"]: one["name"] for one in self.documents}
        return found, Counter(by_id[i] for i in found)


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """Short texts with a topic and a date, one group each."""
    place = tmp_path_factory.mktemp("short")
    documents = list(texts(60))
    run, _ = explore(write_lines(place / "docs.jsonl", documents), place / "run", label="topic")
    return Told(run.folder, documents)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages of documentation, some of the groups hard to tell apart."""
    place = tmp_path_factory.mktemp("pages")
    found = sm.datasets.load_docstrings()
    documents = [
        {"id": name, "text": text, "package": name.split(".")[0]}
        for name, text in list(zip(found.ids, found.texts, strict=True))[::9]
    ]
    run, _ = explore(write_lines(place / "docs.jsonl", documents), place / "run", k=6)
    return Told(run.folder, documents)


def ask(folder, *questions, options=()):
    """Ask a served run, as a program does; give the plain answers, or the sentences of errors."""

    async def all_of_them():
        async with client(folder, *options) as one:
            found = [await one.call_tool(tool, values) for tool, values in questions]
            names = [tool.name for tool in (await one.list_tools()).tools]
        return found, names

    answers, names = asyncio.run(all_of_them())
    return [
        one.content[0].text if one.is_error else one.structured_content for one in answers
    ], names


@asynccontextmanager
async def client(folder, *options):
    command = ["-m", "spheremix", "serve", str(folder), "--mcp", *options]
    how = mcp.StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    async with mcp.Client(how) as one:
        yield one


def questions_of(told):
    """List questions about any run, each with its answer by other means."""
    each = [
        ("about", {}, "documents", len(told.documents)),
        ("about", {}, "groups", len(told.groups)),
        ("about", {}, "edits", 0),
        ("about", {}, "split_into_passages", False),
        ("groups", {}, "groups.0.group", int(told.largest["group"])),
        ("groups", {}, "groups.0.name", told.largest["name"]),
        ("groups", {}, "groups.0.size", int(told.largest["size"])),
        ("search", {"text": "no such word anywhere"}, "total", 0),
    ]
    for row in told.groups[:3]:
        k = int(row["group"])
        own = told.of(k)
        sure = [one for one in own if one["certainty"].startswith("borderline")]
        nearest = max(own, key=lambda one: float(one["cosine"]))
        first = row["words"].split(", ")[0]
        ids, by_group = told.holding(first)
        each += [
            ("group", {"group": k}, "name", row["name"]),
            ("group", {"group": k}, "words.0.word", first),
            ("group", {"group": k}, "stability", pytest.approx(float(row["stability"]), rel=1e-4)),
            ("documents", {"group": k}, "total", len(own)),
            ("documents", {"group": k, "limit": 1}, "documents.0.id", nearest["id"]),
            ("documents", {"group": k, "order": "borderline"}, "total", len(sure)),
            ("documents", {"group": k, "order": "file"}, "documents.0.id", own[0]["id"]),
            ("document", {"id": nearest["id"]}, "group", k),
            ("document", {"id": nearest["id"]}, "text", told.texts[nearest["id"]]),
            ("search", {"text": first.upper()}, "total", len(ids)),
            ("search", {"text": first}, "by_group", dict(by_group)),
            ("assign", {"texts": [told.texts[nearest["id"]]]}, "documents.0.group", k),
        ]
    return each


def value(answer, place):
    for name in place.split("."):
        answer = answer[int(name)] if name.isdigit() else answer[name]
    return answer


@pytest.mark.parametrize("corpus", ["short", "pages"])
def test_questions_are_answered_as_the_tables_say(request, corpus):
    told = request.getfixturevalue(corpus)
    asked = questions_of(told)
    assert len(asked) >= 25
    answers, names = ask(told.folder, *((tool, values) for tool, values, _, _ in asked))
    for answer, (tool, values, place, expected) in zip(answers, asked, strict=True):
        assert not isinstance(answer, str), (tool, values, answer)
        assert value(answer, place) == expected, (tool, values, place)
    assert "rename" not in names


def test_why_compare_and_effects(short):
    one, two = (int(row["group"]) for row in short.groups[:2])
    nearest = short.of(one)[0]["id"]
    asked = [
        ("document", {"id": nearest}),
        ("compare", {"group": one, "other": two}),
        ("effects", {"by": "topic"}),
    ]
    (document, compared, effects), _ = ask(short.folder, *asked)
    best = document["why"][0]
    assert best["for_its_group"] > 0.0
    assert best["word"] in short.texts[nearest]
    words = short.groups[0]["words"].split(", ")
    assert set(compared["only_first"]) | set(compared["both"]) >= set(words[:5])
    assert not set(compared["only_first"]) & set(compared["only_second"])
    rows = [row for row in effects["table"] if "other" not in row]
    shares = {(row["value"], row["group"]): row["share"] for row in rows}
    assert len(effects["table"]) == 2 * len(rows)  # three topics, and every two compared
    topics = {value for value, _ in shares}
    assert len(topics) == 3
    for topic in topics:
        assert sum(own for (value, _), own in shares.items() if value == topic) == pytest.approx(1)


def test_wrong_questions_say_what_to_ask(short):
    asked = [
        ("group", {"group": 17}),
        ("document", {"id": "nobody"}),
        ("search", {"text": " "}),
        ("documents", {"group": 0, "order": "random"}),
        ("effects", {"by": "nothing"}),
        ("assign", {"texts": []}),
    ]
    answers, _ = ask(short.folder, *asked)
    parts = ["numbers 0 to 2", "search or documents", "one word", "typical", "nothing", "one text"]
    for answer, part in zip(answers, parts, strict=True):
        assert isinstance(answer, str)
        assert part in answer
        assert "Traceback" not in answer


def test_edits_are_made_only_where_they_are_allowed(short, tmp_path):
    folder = shutil.copytree(short.folder, tmp_path / "run")
    (refused,), _ = ask(folder, ("rename", {"group": 0, "name": "Mine"}))
    assert "rename" in refused
    asked = [
        ("rename", {"group": 0, "name": "Mine"}),
        ("merge", {"groups": [1, 2]}),
        ("about", {}),
        ("undo", {}),
        ("merge", {"groups": [1, 99]}),
    ]
    found, names = ask(folder, *asked, options=("--edit",))
    renamed, merged, about, undone, refused = found
    assert {"rename", "merge", "split", "undo"} <= set(names)
    assert "Mine" in [one["name"] for one in renamed["groups"]]
    assert len(merged["groups"]) == 2
    assert about["edits"] == 2
    assert len(undone["groups"]) == 3
    assert "99" in refused
    assert sm.load_run(folder).names()[0] == "Mine"


def test_documents_that_were_split_are_read_whole(tmp_path):
    found = list(texts(60))
    documents = [
        {"id": f"doc {i}", "text": "\n\n".join(one["text"] for one in found[i::20])}
        for i in range(20)
    ]
    file = write_lines(tmp_path / "docs.jsonl", documents)
    run, _ = explore(file, tmp_path / "run", split="paragraphs")
    tools = Tools(run.folder)
    assert tools.about()["split_into_passages"]
    assert tools.document("doc 3")["text"] == documents[3]["text"]
    group = tools.groups()["groups"][0]["group"]
    shares = [one["share"] for one in tools.documents(group)["documents"]]
    assert shares == sorted(shares, reverse=True)
    tools.search("no such word")


def test_at_an_address_it_answers_who_knows_the_token(short):
    async def size(address):
        async with mcp.Client(address) as one:
            return (await one.call_tool("about", {})).structured_content["documents"]

    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    with served(short.folder, "--mcp", "--port", port) as (address, _):
        assert address.startswith(f"http://127.0.0.1:{port}/")
        wait_for(port)
        assert asyncio.run(size(address)) == len(short.documents)
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/mcp", timeout=20)
        other = urllib.request.Request(address, headers={"Host": "elsewhere.example"})  # noqa: S310
        with pytest.raises(urllib.error.HTTPError, match=r"421|403"):
            urllib.request.urlopen(other, timeout=20)  # noqa: S310


def wait_for(port, seconds=60):
    """Wait until a server listens."""
    end = time.monotonic() + seconds
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def test_edit_without_programs_is_refused(short):
    assert "--mcp" in refusal("serve", str(short.folder), "--edit")
