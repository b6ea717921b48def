"""What a row is encoded in: the words of whoever reads, and nobody else's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from envelopes.log import numbering
from envelopes.log.numbering import delivered
from envelopes.protocol.rows import Row
from envelopes.session_state.state import apply_to_surfaces
from envelopes.transports.live.presenter import envelopes
from envelopes.transports.live.presenter.envelopes import Envelopes
from envelopes.transports.live.presenter.pieces import LATER_CHARACTERS, Payload
from envelopes.transports.live.surfaces import Dialect
from envelopes.types import JsonObject
from tests.envelopes.transports.live.surfaces.material import ENGINE
from tests.envelopes.transports.live.surfaces.test_mirror import components, create, part, text, write

READERS = [Dialect(version, basic) for version in ("0.9", "0.9.1", "1.0") for basic in (False, True)]


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[JsonObject]:
    """The payloads that were encoded."""
    found: list[JsonObject] = []

    def keep(session_id: str, channel: str, body: Any) -> str:
        found.append(body.payload)
        return real(session_id, channel, body)

    real = envelopes.envelope
    monkeypatch.setattr(envelopes, "envelope", keep)
    return found


def presented(*rows: Row, reader: Dialect) -> list[Payload]:
    presenter, surfaces = Envelopes("s", {}), ENGINE.surfaces()
    presenter.see(surfaces)
    presenter.surfaces(reader)
    payloads = []
    for prev, row in enumerate(rows):
        apply_to_surfaces(surfaces, row)
        payload = presenter.apply(row, [], prev)
        assert payload is not None
        payloads.append(payload)
    return payloads


def said(payload: Payload, reader: Dialect) -> list[JsonObject]:
    (piece,) = payload.pieces
    messages: list[JsonObject] = json.loads(piece.in_dialect(reader) + "}")["payload"]["messages"]
    return messages


ROWS = (
    part(1, create(), write("/", {"a": 1}), components(text("root", "/a"))),
    part(2, components(text("root", "/b"))),
    part(3, write("/a", 2)),
)


@pytest.mark.parametrize("reader", READERS)
def test_a_row_is_encoded_for_those_who_read(reader: Dialect, encoded: list[JsonObject]) -> None:
    payloads = presented(*ROWS, reader=reader)
    for payload in payloads:
        said(payload, reader)
        said(payload, reader)
    assert len(encoded) == len(ROWS)


def test_who_comes_later_gets_the_same_in_other_words() -> None:
    first = presented(*ROWS, reader=READERS[0])
    for reader in READERS:
        assert [said(one, reader) for one in first] == [
            said(one, reader) for one in presented(*ROWS, reader=reader)
        ]


def test_what_is_long_is_made_for_everybody_at_once(encoded: list[JsonObject]) -> None:
    long = [text(f"t{n}", f"/{n}") for n in range(LATER_CHARACTERS // 40)]
    (payload,) = presented(part(1, create(), components(*long)), reader=READERS[0])
    made = len(encoded)
    for reader in READERS:
        assert len(said(payload, reader)[0]) > 1
    assert len(encoded) == made == 3


def test_what_a_row_delivers_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = numbering._by_transport["live"]
    monkeypatch.setitem(
        numbering._by_transport,
        "live",
        lambda row: asked.append(row.kind) or real(row),  # type: ignore[func-returns-value]
    )
    row = part(1, create())
    assert delivered("live", row) is delivered("live", row)
    presented(row, reader=READERS[0])
    assert asked == ["part"]
