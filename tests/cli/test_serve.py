"""``spheremix serve``: a real process, asked by whoever may and by others; edits, one at a time."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import time
from urllib.parse import quote, urlsplit

import pytest
from cli_common import refusal, rows, texts, write_lines
from edit_common import contents, edits_of, explore
from serving import served

import spheremix as sm

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    place = tmp_path_factory.mktemp("serve")
    return explore(write_lines(place / "docs.jsonl", texts(40)), place / "run")[0]


@pytest.fixture
def folder(base, tmp_path):
    return shutil.copytree(base.folder, tmp_path / "run")


def ask(address, path="", method="GET", body=None, headers=None):
    """Ask as any program may; give the status and what is in the answer."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
    target = path if path.startswith("/") else f"{place.path}{path}"
    connection.request(method, target, body, headers or {})
    answer = connection.getresponse()
    found = answer.read()
    connection.close()
    return answer, found


def post(address, edits, path="edits", **headers):
    return ask(address, path, "POST", json.dumps(edits), {**JSON, **headers})


def wait(address, seconds=60):
    """Wait until edits are made or refused."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        progress = json.loads(ask(address, "progress")[1])
        if progress["state"] not in {"idle", "working"}:
            return progress
        time.sleep(0.05)
    raise AssertionError(progress)


def test_who_has_the_address_sees_the_page_and_nobody_else(folder):
    with served(folder) as (address, _):
        assert address.startswith("http://127.0.0.1:")
        token = urlsplit(address).path.strip("/")
        assert len(token) >= 32
        answer, page = ask(address)
        assert answer.status == 200
        file = (folder / "report.html").read_bytes()
        begin = b"default-src 'none'"
        assert page == file.replace(begin, begin + b"; connect-src 'self'", 1)
        assert b"connect-src" not in file.split(b"<script")[0]
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert "Access-Control-Allow-Origin" not in answer.headers
        port = urlsplit(address).port
        # By every name of this machine, and by no other: a name of others may lead here.
        for host, status in (
            (f"localhost:{port}", 200),
            (f"evil.example:{port}", 403),
            (f"127.0.0.1:{port + 1}", 403),
            ("127.0.0.1", 403),
            ("", 403),
        ):
            assert ask(address, headers={"Host": host})[0].status == status, host
        for path in (
            "/",
            "/wrong/",
            f"/{token[:-1]}/",
            f"/{token}x/",
            "/report.html",
            "//",
            "/%C3%A9/",
        ):
            assert ask(address, path)[0].status == 403, path
        for path in (
            "../run.json",
            "..%2frun.json",
            "report.html",
            "run.json",
            "/edits/..",
            "edits",
        ):
            wanted = f"/{token}/{path}".replace("//", "/")
            assert ask(address, wanted)[0].status == 404, path
        # Other pages in the same browser.
        own = f"http://127.0.0.1:{port}"
        for headers in (
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": f"{own}0"},
        ):
            assert ask(address, headers=headers)[0].status == 403
            assert post(address, {}, **headers)[0].status == 403
        assert ask(address, headers={"Sec-Fetch-Site": "cross-site"})[0].status == 403
        assert ask(address, headers={"Origin": own})[0].status == 200
        assert json.loads(ask(address, "progress")[1])["state"] == "idle"


def test_all_documents_are_listed_page_by_page(base):
    with served(base.folder) as (address, _):
        found, start = [], 0
        while True:
            answer, body = ask(address, f"documents?strata=0,1,2,3,4,5,6,7,8&start={start}")
            assert answer.status == 200
            page = json.loads(body)
            if not page["documents"]:
                break
            assert len(page["documents"]) <= 50
            found += [one["id"] for one in page["documents"]]
            start += len(page["documents"])
        assert sorted(found) == sorted(base.documents["id"])
        assert page["n"] == len(found) == 40
        answer, body = ask(address, "documents?strata=0,1,2,3,4,5,6,7,8&start=30")
        assert [one["id"] for one in json.loads(body)["documents"]] == found[30:]
        texts_of = json.loads(ask(address, f"texts?id={quote(found[1])}&id=none")[1])["texts"]
        whole = base.kept_corpus
        assert texts_of == {found[1]: whole.texts[whole.ids.index(found[1])]}
        for wrong in ("texts?", "texts?id=", "texts?" + "id=a&" * 51):
            assert ask(address, wrong)[0].status == 400, wrong
        for wrong in ("", "strata=&start=0", "strata=0", "strata=-1&start=0", "strata=0&start=x"):
            assert ask(address, f"documents?{wrong}")[0].status == 400, wrong
        port = urlsplit(address).port
        other = f"http://127.0.0.1:{port}/{'x' * 32}/documents?strata=0&start=0"
        assert ask(address, urlsplit(other).path + "?strata=0&start=0")[0].status == 403


def test_only_loopback_listens(folder):
    with served(folder) as (address, _):
        port = urlsplit(address).port
        with socket.socket() as other:
            other.settimeout(5)
            assert other.connect_ex(("127.0.0.2", port)) != 0


def test_what_is_no_edits_is_refused_in_a_sentence(folder):
    before = contents(folder)
    run = sm.load_run(folder)
    with served(folder) as (address, _):
        for headers in ({}, {"Content-Type": "text/plain"}, {**JSON, "Content-Length": "x"}):
            answer, _ = ask(address, "edits", "POST", "{}", headers)
            assert answer.status == 400, headers
        answer, _ = ask(address, "edits", "POST", None, {**JSON, "Content-Length": str(10**9)})
        assert answer.status == 400
        assert post(address, {}, "undo")[0].status == 404
        for edits, told in (
            (
                edits_of(run, merge=[[0, 9]]),
                "edits.json): there is no group 9: the run has 3 groups",
            ),
            ({"format": "other"}, "not a file of edits"),
            ({**edits_of(run, names={"0": "x"}), "run": "gone"}, "made for another run"),
            ([], "edits.json"),
        ):
            assert post(address, edits)[0].status == 202
            end = wait(address)
            assert end["state"] == "refused"
            assert told in end["message"], end
            assert end["message"].count("\n") == 0
    assert contents(folder) == before


def test_edits_are_applied_one_at_a_time(folder):
    run = sm.load_run(folder)
    with served(folder, "--threads", 1) as (address, _):
        first = edits_of(run, merge=[[0, 1]], names={"2": "kept"})
        statuses = [post(address, first)[0].status for _ in range(2)]
        assert statuses == [202, 409]
        assert wait(address)["state"] == "done"
        found = sm.load_run(folder)
        assert found.info.n_groups == 2
        assert "kept" in found.groups["name"]
        assert ask(address)[1] != (run.folder / "report.html").read_bytes()
        # The page of before is told that it is one.
        assert post(address, edits_of(run, split=[0]))[0].status == 202
        assert "made for another run" in wait(address)["message"]
        assert post(address, edits_of(found, names={"0": "both"}))[0].status == 202
        assert wait(address)["state"] == "done"
    assert {row["name"] for row in rows(folder / "groups.csv")} == {"kept", "both"}


def interrupted(folder, how):
    """Begin edits, and stop the server in the middle of them; give its exit code."""
    run = sm.load_run(folder)
    with served(folder, "--threads", 1) as (address, process):
        assert post(address, edits_of(run, split=[0]))[0].status == 202
        while "Fitting" not in json.loads(ask(address, "progress")[1])["what"]:
            assert json.loads(ask(address, "progress")[1])["state"] == "working"
        process.send_signal(how)
        return process.wait(30)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_server_that_is_stopped_during_an_edit_leaves_a_run(folder, how):
    before = contents(folder)
    assert interrupted(folder, how) == (0 if how == signal.SIGINT else -how)
    found = sm.load_run(folder)
    if found.info.n_groups == 3:  # it was stopped in time
        assert contents(folder) == before
        found = found.edit({"split": [0]})
    assert found.info.n_groups == 4
    assert contents(found.undo_edits().folder) == before


def test_the_port_is_that_of_the_run_or_one_that_is_given(folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        free = taken.getsockname()[1]
    with served(folder) as (first, _), served(folder) as (second, _):
        ports = [urlsplit(one).port for one in (first, second)]
        assert ports[0] in range(20_000, 40_000)
        assert ports[0] != ports[1]
        assert urlsplit(first).path != urlsplit(second).path
    with served(folder, "--port", free) as (address, process):
        assert urlsplit(address).port == free
        assert "in use" in refusal("serve", folder, "--port", free)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert process.returncode == 0
        assert "stopped." in err
        assert not out
    assert "no such folder" in refusal("serve", os.fspath(folder / "nowhere"))
