"""Names from a language model: asked once a group, checked, kept; and servers that misbehave."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from cli_common import run as command
from cli_common import texts, write_lines
from listening import Told

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run import namer as module
from spheremix.run.options import ExploreOptions

OPTIONS = {"k": 3, "starts": 2, "max_steps": 20, "lemmatizer": "none", "threads": 1}
MODELS, CHAT = "/v1/models", "/v1/chat/completions"


def good(prompt, _):
    """Return a name as a careful model does: of the first words of the group."""
    return json.dumps({"name": " ".join(prompt["words"][:2]).title()})


class Server(ThreadingHTTPServer):
    """A real server, whose model answers as a function says: a text, or status and bytes."""

    daemon_threads = True

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.models, self.asked = answer, {"data": [{"id": "tiny:1b"}]}, []
        self.address = f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, *_):
        """Say nothing where a client has gone."""

    def chats(self):
        return [sent for path, sent in self.asked if path == CHAT]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append((self.path, None))
        self._send(200, json.dumps(self.server.models).encode())

    def do_POST(self):
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, sent))
        said = self.server.answer(json.loads(sent["messages"][1]["content"]), sent["messages"])
        if isinstance(said, str):
            message = {"role": "assistant", "content": said}
            said = 200, json.dumps({"choices": [{"message": message}]}).encode()
        self._send(*said)

    def _send(self, status, body):
        self.send_response(status)
        if status == 307:
            self.send_header("Location", f"http://127.0.0.2:{self.server.server_port}{CHAT}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def serving(answer=good):
    with Server(answer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("corpus") / "docs.jsonl", texts(40))


@pytest.fixture(scope="module")
def plain(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain") / "run"
    return sm.explore_corpus(corpus, folder, listener=Told(), **OPTIONS)


def explore(corpus, folder, address, **more):
    heard = Told()
    run = sm.explore_corpus(corpus, folder, listener=heard, namer=address, **OPTIONS, **more)
    return run, [one for one in heard.told if "namer" in one or "http" in one]


def test_each_group_is_asked_for_once_and_never_again(corpus, plain, tmp_path):
    with serving() as server:
        run, told = explore(corpus, tmp_path / "run", server.address)
        described = {one["group"]: one for one in plain.describe_groups()}
        expected = [
            " ".join(word["word"] for word in described[k]["words"][:2]).title() for k in range(3)
        ]
        assert run.names() == expected
        assert told == []
        assert {one.source for one in run.info.names} == {"tiny:1b"}
        assert [path for path, _ in server.asked] == [MODELS, CHAT, CHAT, CHAT]
        sent = server.chats()
        assert {(one["model"], one["temperature"]) for one in sent} == {("tiny:1b", 0)}
        first = json.loads(sent[0]["messages"][1]["content"])
        assert set(first) == {"words", "documents", "names that are taken"}
        assert 1 <= len(first["documents"]) <= module.DOCUMENTS
        last = json.loads(sent[2]["messages"][1]["content"])
        assert last["names that are taken"] == expected[:2]

        again, _ = explore(corpus, tmp_path / "run", server.address)
        # Another place of the same model, and other options of the run, cost no question.
        moved, _ = explore(
            corpus, tmp_path / "run", server.address.replace("127.0.0.1", "localhost")
        )
        assert again.names() == moved.names() == expected
        assert len(server.asked) == 4
    changed, _ = explore(corpus, tmp_path / "run", server.address, date="none")
    assert changed.names() == expected
    assert sm.load_run(tmp_path / "run").check() == []


def test_answers_survive_edits_and_names_are_given_up_aloud(corpus, tmp_path):
    with serving() as server:
        run, _ = explore(corpus, tmp_path / "run", server.address)
        names = run.names()
        assert run.edit({"names": {0: "Mine"}}).names() == ["Mine", *names[1:]]
        sm.load_run(tmp_path / "run").undo_edits()
    run, _ = explore(corpus, tmp_path / "run", server.address, date="none")
    assert run.names() == names
    heard = Told()
    without = sm.explore_corpus(corpus, tmp_path / "run", listener=heard, **OPTIONS)
    assert {one.source for one in without.info.names} == {"spheremix"}
    assert any("no longer used: give namer again" in one for one in heard.told)


def test_names_that_people_gave_are_not_asked_for(corpus, plain, tmp_path):
    given = {1: "By hand"}
    with serving() as server:
        run, _ = explore(corpus, tmp_path / "run", server.address, names=given)
        assert len(server.chats()) == 2
        first = json.loads(server.chats()[0]["messages"][1]["content"])
        assert first["names that are taken"] == ["By hand"]
    assert [one.source for one in run.info.names] == ["tiny:1b", "mapping", "tiny:1b"]
    assert run.names()[1] == "By hand"
    assert plain.names() is None


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ("I would call it Boats", "must be JSON"),
        ('{"title": "x"}', "must be JSON"),
        ('{"name": ["x"]}', "must be JSON"),
        ('{"name": "  "}', "must be JSON"),
        (json.dumps({"name": "word " * 6}), "more than 5 words or 40 characters"),
        (json.dumps({"name": "w" * 41}), "more than 5 words or 40 characters"),
        ('{"name": "Quantum cookery"}', "No document of the group has: cookery, quantum"),
    ],
)
def test_a_bad_answer_is_asked_again_with_what_is_wrong(corpus, tmp_path, bad, problem):
    def answer(prompt, messages):
        return bad if len(messages) == 2 else f"<think>{{}}</think>```json\n{good(prompt, 0)}\n```"

    with serving(answer) as server:
        run, told = explore(corpus, tmp_path / "run", server.address)
        sent = server.chats()
    assert len(sent) == 6
    *_, said, complaint = sent[1]["messages"]
    assert said == {"role": "assistant", "content": bad}
    assert problem in complaint["content"]
    assert {one.source for one in run.info.names} == {"tiny:1b"}
    assert told == []


def test_a_taken_name_is_asked_again(corpus, plain, tmp_path):
    automatic = [one["name"] for one in sorted(plain.describe_groups(), key=lambda c: c["group"])]

    def answer(prompt, messages):
        taken = prompt["names that are taken"]
        if len(messages) > 2:
            return good(prompt, messages)
        # The first group gets the automatic name of another one, the others the name of the first.
        return json.dumps({"name": (taken[0] if taken else automatic[2]).upper()})

    with serving(answer) as server:
        run, _ = explore(corpus, tmp_path / "run", server.address)
        complaints = [
            s["messages"][-1]["content"] for s in server.chats() if len(s["messages"]) > 2
        ]
    assert len(complaints) == 3
    assert all("Another group has this name" in one for one in complaints)
    assert len(set(run.names())) == 3


def test_after_three_bad_answers_the_automatic_name_stays(corpus, plain, tmp_path):
    with serving(lambda *_: "no") as server:
        run, [told] = explore(corpus, tmp_path / "run", server.address)
        assert len(server.chats()) == 9
        explore(corpus, tmp_path / "run", server.address)
        explore(corpus, tmp_path / "run", server.address, date="none")
        assert len(server.chats()) == 9
    assert "automatic names stay where no answer was a usable name: group 0, 1, 2" in told
    assert run.groups["name"] == plain.groups["name"]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (lambda *_: (500, b"out of memory"), "answered with error 500 (out of memory)"),
        (lambda *_: (307, b""), "answered with error 307"),
        (lambda *_: (200, b"<html>hello"), "gave no JSON"),
        (lambda *_: (200, b"\xff\xfe"), "gave no JSON"),
        (lambda *_: (200, b'{"choices": []}'), "gave no message"),
        (lambda *_: (200, b"[]"), "gave no message"),
        (lambda *_: time.sleep(1.5) or "{}", "gave no answer in 0.3 seconds"),
    ],
    ids=["500", "elsewhere", "html", "bytes", "empty", "list", "slow"],
)
def test_a_run_is_finished_without_the_model_and_asks_again(
    corpus, plain, tmp_path, monkeypatch, answer, problem
):
    if "0.3" in problem:
        monkeypatch.setattr(module, "TIMEOUT", 0.3)
    with serving(answer) as server:
        run, [told] = explore(corpus, tmp_path / "run", server.address)
        assert f"{server.address}/chat/completions" in told
        assert problem in told
        assert "the same command asks again" in told
        assert len(server.chats()) == 1
        assert run.groups["name"] == plain.groups["name"]
        server.answer = good
        run, told = explore(corpus, tmp_path / "run", server.address)
    assert told == []
    assert {one.source for one in run.info.names} == {"tiny:1b"}


def test_a_server_that_is_not_there_or_has_no_model(corpus, tmp_path):
    with serving() as server:
        server.models = {"data": []}
        run, [told] = explore(corpus, tmp_path / "run", server.address)
        assert f"{server.address}/models lists no model" in told
    run, [told] = explore(corpus, tmp_path / "run", server.address, namer_model="tiny")
    assert "cannot be reached" in told
    assert "start the server" in told
    assert {one.source for one in run.info.names} == {"spheremix"}


def test_answers_before_an_error_are_kept(corpus, tmp_path):
    def answer(prompt, messages):
        return (500, b"") if len(prompt["names that are taken"]) == 2 else good(prompt, messages)

    with serving(answer) as server:
        run, [told] = explore(corpus, tmp_path / "run", server.address, namer_model="tiny")
        assert [one.source for one in run.info.names] == ["tiny", "tiny", "spheremix"]
        assert "error 500" in told
        server.answer = good
        server.asked.clear()
        run, _ = explore(corpus, tmp_path / "run", server.address, namer_model="tiny")
        assert [path for path, _ in server.asked] == [CHAT]
        assert {one.source for one in run.info.names} == {"tiny"}


def test_a_killed_command_asks_only_for_the_rest(corpus, tmp_path):
    class Killed(BaseException):
        pass

    class Dying(Told):
        def update(self, share, _=""):
            if self.begun[-1].startswith("Asking") and share > 0.5:
                raise Killed

    with serving() as server:
        with pytest.raises(Killed):
            sm.explore_corpus(
                corpus, tmp_path / "run", listener=Dying(), namer=server.address, **OPTIONS
            )
        assert len(server.chats()) == 2
        explore(corpus, tmp_path / "run", server.address)
        assert len(server.chats()) == 3


def test_no_proxy_stands_between_this_machine_and_itself(corpus, tmp_path, monkeypatch):
    with serving() as proxy, serving() as server:
        monkeypatch.setenv("http_proxy", proxy.address.removesuffix("/v1"))
        monkeypatch.delenv("no_proxy", raising=False)
        explore(corpus, tmp_path / "run", server.address)
        assert len(server.chats()) == 3
        assert proxy.asked == []


def test_embeddings_without_texts_are_not_asked_for(tmp_path):
    rows, _, _ = sm.datasets.make_vmf_mixture(40, 4, 2, kappa=30.0, random_state=0)
    np.save(tmp_path / "rows.npy", rows)
    heard = Told()
    with serving() as server:
        sm.explore_corpus(
            tmp_path / "rows.npy", tmp_path / "run", listener=heard, k=2, namer=server.address
        )
        assert server.asked == []
    assert any("no words and texts" in one for one in heard.told)


@pytest.mark.parametrize(
    "address",
    [
        *("http://example.org/v1", "https://10.0.0.7:8000/v1", "http://localhost.example.org/v1"),
        *("http://[2001:db8::1]/v1", "http://0x7f.1/v1", "http://127.0.0.1.example.org"),
    ],
)
def test_another_machine_needs_leave(address):
    with pytest.raises(ParameterError, match=r"is another machine\. It would be sent the words"):
        ExploreOptions(namer=address)
    assert ExploreOptions(namer=address, namer_remote=True).namer == address


@pytest.mark.parametrize("address", ["http://127.3.2.1/v1", "http://[::1]:80", "https://LOCALHOST"])
def test_this_machine_has_several_names(address):
    assert ExploreOptions(namer=address).namer == address


@pytest.mark.parametrize(
    "address",
    [
        *(
            "localhost:11434",
            "file:///etc/passwd",
            "ftp://localhost",
            "http://",
            "",
            5,
            "http://[1",
        ),
        *("http://localhost:x", "http://a b", "http://localhost/v1?key=1", "http://u:p@localhost"),
        *("http://localhost\\@example.org/v1", "http://localhost/v1\n"),
    ],
)
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ParameterError, match="namer must be an address"):
        ExploreOptions(namer=address)


@pytest.mark.parametrize("given", [{"namer_model": "tiny"}, {"namer_remote": True}])
def test_options_of_a_model_need_one(given):
    with pytest.raises(ParameterError, match="is of the model that namer asks: give namer"):
        ExploreOptions(**given)


def test_the_command(corpus, tmp_path):
    options = ("-o", tmp_path / "run", "--k", 3, "--starts", 1, "--max-steps", 5)
    line = command("explore", corpus, *options, "--namer", "http://example.org/v1", code=2)[1]
    assert "allow this with --namer-remote" in line
    assert not (tmp_path / "run").exists()
    with serving() as server:
        out, _ = command("explore", corpus, *options, "--namer", server.address)
        names = sm.load_run(tmp_path / "run").names()
        assert len(server.chats()) == 3
    assert all(name in out for name in names)
