"""What a model reads of earlier turns."""

from __future__ import annotations

import json

import pytest

from envelopes.providers.scripted import Say, text
from envelopes.runtime import history
from tests.desk import desk, replies

pytestmark = pytest.mark.django_db(transaction=True)


async def test_what_is_left_out_of_a_long_conversation_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "EARLIER_TURNS", 2)
    async with desk(replies([Say([text("response", "Yes.")])])) as d:
        for words in ("one", "two", "three"):
            await d.say(words)
        assert "leftOut" not in json.dumps(d.requests[-1].messages)
        await d.say("four")
        read = json.dumps(d.requests[-1].messages)
        assert '\\"leftOut\\":1' in read
        assert '"two"' in read
        assert '"one"' not in read
