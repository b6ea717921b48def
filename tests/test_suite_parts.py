"""What the whole suite stands on: examples that stay the same, and a database that is empty again."""

from __future__ import annotations

import os
import sys
import types

import pytest
from django.contrib.auth.models import Permission, User
from hypothesis import given, settings
from hypothesis import strategies as st

from envelopes.models import Session, Turn
from tests import emptying
from tests.shared import ROOT


def drawn() -> list[tuple[str, int]]:
    """What hypothesis makes for one test, now."""
    values: list[tuple[str, int]] = []

    @settings(max_examples=100)
    @given(st.text(), st.integers())
    def prop(text: str, number: int) -> None:
        values.append((text, number))

    prop()
    return values


@pytest.mark.skipif(int(os.environ.get("BEACH_FUZZ", "1")) > 1, reason="a long run draws at random")
def test_examples_do_not_depend_on_what_else_was_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    before = drawn()
    other = types.ModuleType("another_module_of_the_project")
    other.__file__ = str(ROOT / "tests" / "a2ui" / "chaos.py")
    monkeypatch.setitem(sys.modules, other.__name__, other)

    assert drawn() == before


@pytest.mark.django_db(transaction=True)
def test_after_a_test_that_commits_the_database_holds_what_migrating_put_there() -> None:
    User.objects.create(username="ada")
    session = Session.objects.create(actor="a")
    Turn.objects.create(session=session, number=1, actor="a", status="running", attempt=1)
    permissions = Permission.objects.count()

    emptying.empty()

    assert not Session.objects.exists() and not Turn.objects.exists() and not User.objects.exists()
    assert Permission.objects.count() == permissions > 0
