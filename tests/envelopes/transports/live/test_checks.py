"""A contract that cannot be declared is told at start-up."""

from __future__ import annotations

from envelopes.transports.live import checks
from tests.factories import acting


def test_a_contract_that_is_wrong_is_an_error_that_says_why() -> None:
    with acting(contract={"actionSpec": {"go": {"label": "Go"}}}):
        assert checks.contracts(None) == []
    with acting(contract={"streamSpec": {"_ggui:preview": {"schema": {"type": "string"}}}}):
        (error,) = checks.contracts(None)
    assert (error.id, error.is_serious()) == ("envelopes.E008", True)
    assert error.hint is not None
    assert "_ggui:preview" in error.hint
