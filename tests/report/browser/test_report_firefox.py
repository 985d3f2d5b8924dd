"""The report in Firefox, where it is installed: driven by WebDriver BiDi, which Firefox speaks."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

websocket = pytest.importorskip("tornado.websocket", exc_type=ImportError)

LOOK = """async () => {
  const wait = (time) => new Promise((done) => setTimeout(done, time));
  for (let i = 0; i < 300 && !document.body.dataset.ready; i++) await wait(100);
  await wait(500);
  const canvas = document.querySelector(".document-map > canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const colours = new Set(new Uint32Array(data.buffer));
  const names = [...document.querySelectorAll("#group-list .name")].map((one) => one.textContent);
  document.querySelectorAll("#group-list [role=option]")[1].click();
  document.getElementById("tab-prototypes").click();
  document.querySelector("#document-list .document").click();
  await wait(500);
  const words = document.getElementById("map");
  return JSON.stringify({
    names,
    colours: colours.size,
    card: document.getElementById("card-name").textContent,
    documents: document.querySelectorAll("#document-list .document").length,
    reader: document.getElementById("reader-body").textContent.length,
    words: [words.width, words.height],
    wide: document.documentElement.scrollWidth,
  });
}"""


class Firefox:
    """A tab of Firefox, and what its console has complained about."""

    def __init__(self, connection):
        self.connection = connection
        self.number = 0
        self.complaints = []

    async def ask(self, method, **parameters):
        """Send a command; give its result."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        await self.connection.write_message(json.dumps(command))
        while True:
            told = json.loads(await self.connection.read_message())
            if told.get("method") == "log.entryAdded" and told["params"]["level"] != "info":
                self.complaints.append(told["params"]["text"])
            if told.get("id") == self.number:
                assert told["type"] == "success", told
                return told["result"]


async def look(address, url):
    """Open a page in a new tab; give what is seen, and the complaints."""
    connection = await websocket.websocket_connect(f"{address}/session", max_message_size=2**26)
    firefox = Firefox(connection)
    await firefox.ask("session.new", capabilities={})
    await firefox.ask("session.subscribe", events=["log.entryAdded"])
    tab = (await firefox.ask("browsingContext.create", type="tab"))["context"]
    size = {"width": 1280, "height": 800}
    await firefox.ask("browsingContext.setViewport", context=tab, viewport=size)
    await firefox.ask("browsingContext.navigate", context=tab, url=url, wait="complete")
    found = await firefox.ask(
        "script.callFunction",
        functionDeclaration=LOOK,
        awaitPromise=True,
        target={"context": tab},
    )
    connection.close()
    assert found["type"] == "success", found
    return json.loads(found["result"]["value"]), firefox.complaints


@pytest.fixture
def firefox(tmp_path):
    """The address of a Firefox without a window."""
    place = os.environ.get("SPHEREMIX_FIREFOX") or shutil.which("firefox-esr")
    place = place or shutil.which("firefox")
    if place is None:
        pytest.skip("no Firefox: apt-get install firefox-esr, or set SPHEREMIX_FIREFOX")
    command = [place, "--headless", "--no-remote", "--profile", str(tmp_path)]
    environment = {**os.environ, "HOME": str(tmp_path)}
    with subprocess.Popen(  # noqa: S603
        [*command, "--remote-debugging-port", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        listening = (re.search(r"BiDi listening on (ws://\S+)", line) for line in process.stderr)
        found = next((match for match in listening if match), None)
        yield found and found[1]
        process.terminate()


@pytest.mark.slow
def test_firefox_draws_the_list_and_the_maps_and_complains_about_nothing(firefox, grown):
    assert firefox, "Firefox ended before it could be asked anything."
    path, content = grown
    with ThreadPoolExecutor(1) as alone:  # the thread of the tests has a loop of Playwright
        seen, complaints = alone.submit(asyncio.run, look(firefox, path.as_uri())).result()
    assert complaints == []
    assert sorted(seen["names"]) == sorted(content["names"])
    assert seen["colours"] > 5  # a ground, five groups
    assert seen["card"] == seen["names"][1]
    assert seen["documents"] > 3
    assert seen["reader"] > 100
    assert min(seen["words"]) > 100
    assert seen["wide"] <= 1280
