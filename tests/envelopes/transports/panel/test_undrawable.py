"""A part that cannot be drawn says so in its place, and the conversation goes on."""

from __future__ import annotations

import pytest

from envelopes.transports.panel.presenter.blocks import Me
from envelopes.transports.panel.presenter.prose import Prose
from tests.envelopes.transports.panel.talk import Talk


def test_a_file_of_a_size_beyond_all_numbers_does_not_end_the_conversation() -> None:
    talk = Talk()
    talk.turn(1)
    for size in (10**400, 2**53, 0.5):
        talk.part(
            "artifact", data={"artifactId": f"a{size}", "mimeType": "a/b", "sizeBytes": size, "name": "f"}
        )
    talk.part("response", "Still here.")
    assert "Still here." in talk.page.text()
    assert len(talk.page.select("b-file")) == 3


@pytest.mark.parametrize("broken", [Prose, Me])
def test_a_view_that_fails_leaves_a_line_and_the_rest(
    broken: type[Prose | Me], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise TypeError("odd")

    monkeypatch.setattr(broken, "html", fail)
    talk = Talk()
    talk.may_fail = True
    talk.me("Hello")
    talk.turn(1)
    talk.part("response", "An answer.")
    talk.part("ack", "On it.")
    assert talk.page.text().count("This cannot be shown.") == 1
    assert talk.page.text().count("On it.") == 1
    # What a reload shows is what the operations made.
    assert talk.thread.html(talk.surfaces).count("This cannot be shown.") == 1
