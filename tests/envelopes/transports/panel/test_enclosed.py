"""What came with a person's message stands in its bubble, live, after a reload and from a snapshot."""

from __future__ import annotations

import json

from envelopes.transports.panel.presenter.thread import Thread
from tests.envelopes.transports.panel.talk import Talk, words

FILE = {
    "metadata": {"partType": "artifact"},
    "data": {"artifactId": "a", "name": "trip.pdf", "mimeType": "application/pdf", "sizeBytes": 2048,
             "url": "/artifacts/a", "status": "complete"},
}  # fmt: skip
DATA = {"metadata": {"partType": "domain-data", "dataKind": "trip"}, "data": {"city": "Corfu <b>", "days": 7}}


def test_files_and_data_are_drawn_in_the_bubble_of_their_message() -> None:
    talk = Talk()
    talk.me("My plans", parts=[FILE, DATA])
    page = talk.reloaded()

    (me,) = page.select("b-me")
    assert [words(text) for text in me.findall("p[@class='b-me__text']")] == ["My plans"]
    (file,) = page.select("b-file")
    assert "trip.pdf" in words(file) and "PDF, 2 kB" in words(file)
    (link,) = file.iter("a")
    assert link.get("href") == "/artifacts/a"
    (data,) = page.select("b-me__data")
    assert [words(cell) for cell in data.iter("dd")] == ["Corfu <b>", "7"]
    assert file in list(me) and data in list(me)
    # An agent's data stands in a card that says whose it is; this is nobody's card.
    assert not page.select("b-surface")


def test_a_message_of_files_alone_has_no_empty_bubble() -> None:
    talk = Talk()
    talk.me("", parts=[FILE])

    (me,) = talk.reloaded().select("b-me")
    assert not talk.page.select("b-me__text")
    assert "You said:" in words(me)


def test_a_snapshot_keeps_what_came_with_a_message() -> None:
    talk = Talk()
    talk.me("My plans", parts=[FILE, DATA])
    kept = json.loads(json.dumps(talk.thread.snapshot()))

    assert Thread.restore(talk.context, kept).html(talk.surfaces) == talk.html()
    # One from before that knows of no parts.
    for block in kept["model"]["blocks"]:
        block.pop("parts", None)
    assert "My plans" in Thread.restore(talk.context, kept).html(talk.surfaces)
