"""The limits of what the live channel carries stand in docs/limits.md as they are."""

from __future__ import annotations

from beachsite.suite import ROOT
from envelopes.log.numbering import VIEWS
from envelopes.protocol.surface_reading import MOST_CHARACTERS, MOST_COMPONENTS, MOST_DATA
from envelopes.runtime.tidying import KEPT_ROWS
from envelopes.transports.live.contracts import (
    KEPT_CONTRACTS,
    MAX_CONTRACT_BYTES,
    MAX_NAME,
    MOST_VIOLATIONS,
    RING,
)
from envelopes.transports.live.contracts.dialect import MAX_DEPTH
from envelopes.transports.live.contracts.structure import MAX_SLOTS
from envelopes.transports.live.contracts.values import MAX_STEPS
from envelopes.transports.live.frames import MOST_CATALOGS, MOST_VERSIONS
from envelopes.transports.live.pulls.channels import DEFAULT_MS, LEAST_MS, MOST_MS
from envelopes.transports.live.pulls.polling import MAX_BYTES
from envelopes.transports.live.pulls.sanitising import MAX_CHARACTERS
from envelopes.transports.live.surfaces.writes import MOST_WRITES


def test_they_are_documented() -> None:
    text = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    table = text.split("## Of the live channel")[1].split("\n## ")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")][2:]

    assert [row[1] for row in rows] == [
        f"{MAX_CONTRACT_BYTES:,}",
        f"{MAX_DEPTH:,}",
        f"{MAX_SLOTS:,}",
        f"{MAX_NAME:,}",
        f"{MAX_STEPS:,}",
        f"{MOST_VIOLATIONS:,}",
        f"{KEPT_CONTRACTS:,}",
        f"{MOST_WRITES:,}",
        f"{MOST_COMPONENTS:,}",
        f"{MOST_CHARACTERS:,}",
        f"{MOST_DATA:,}",
        f"{LEAST_MS:,} to {MOST_MS:,}, {DEFAULT_MS:,} unless asked",
        f"{MAX_BYTES:,}",
        f"{MAX_CHARACTERS:,}",
        f"{KEPT_ROWS:,}",
        f"{MOST_CATALOGS:,} and {MOST_VERSIONS:,}, of 1,024 characters each",
        f"{VIEWS:,}",
        f"{RING:,}",
    ]
