"""What is wrong about who draws what is told at start-up."""

from __future__ import annotations

from dataclasses import replace

from envelopes.registries.part_types import PartType, part_types
from envelopes.transports.panel import checks
from envelopes.transports.panel.presenter.drawers import Drawing, drawings
from envelopes.transports.panel.presenter.row import RowContext

BOARD = PartType("acme.board", frozenset({"actor"}), "flush", "drop")


def _draw(context: RowContext) -> None:
    raise AssertionError


def test_a_type_with_two_drawings_is_an_error_that_names_both() -> None:
    with drawings.including(Drawing("acme.board", _draw)):
        with part_types.including(BOARD):
            assert checks.drawn_once(None) == []
        with part_types.including(replace(BOARD, template="acme/board.html")):
            (error,) = checks.drawn_once(None)

    assert (error.id, error.is_serious()) == ("envelopes.E010", True)
    assert error.msg.count(__name__) == 2


def test_a_drawer_for_a_type_that_there_is_not_is_warned_of() -> None:
    assert checks.drawn_types(None) == []
    with drawings.including(Drawing("acme.borad", _draw)), part_types.including(BOARD):
        (warning,) = checks.drawn_types(None)

    assert (warning.id, warning.is_serious()) == ("envelopes.W003", False)
    assert "'acme.borad'" in warning.msg and __name__ in warning.msg


def test_the_checks_are_run() -> None:
    from django.core.checks.registry import registry

    assert {checks.drawn_once, checks.drawn_types} <= set(registry.get_checks())
