"""Feature flags go along with a configuration, without the people that they name."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from waffle.models import Flag

from envelopes import config_transfer, flags
from envelopes.checks import registered as checks
from envelopes.config_transfer import Change, Report, sealing
from envelopes.errors import ValidationFailed

pytestmark = pytest.mark.django_db

PASSPHRASE = "correct horse battery"


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least that a file may ask for."""
    monkeypatch.setattr(sealing, "COST", 2**14)


@pytest.fixture
def text() -> str:
    """Of a site with two flags, one of them for a group and a person."""
    lab = Flag.objects.create(name="lab", percent=12.5, superusers=False, note="Tried out.")
    lab.groups.add(Group.objects.create(name="Lab"))
    lab.users.add(User.objects.create_user("ines"))
    Flag.objects.create(name="on", everyone=True)
    return config_transfer.export("profile", PASSPHRASE)


def taken_in(text: str, *, dry: bool = False) -> Report:
    return config_transfer.carry_over(config_transfer.read(text, PASSPHRASE)[1], dry=dry)


def rows() -> list[Any]:
    return [
        (
            flag.name,
            flag.everyone,
            flag.percent,
            flag.superusers,
            flag.note,
            [one.name for one in flag.groups.all()],
        )
        for flag in Flag.objects.order_by("name")
    ]


def test_another_site_gets_them_and_a_second_import_changes_nothing(text: str) -> None:
    before = rows()
    Flag.objects.all().delete()
    Group.objects.all().delete()

    assert [change.name for change in taken_in(text, dry=True).changes] == ["Lab", "lab", "on"]
    assert rows() == []
    taken_in(text)
    assert rows() == before
    assert not Flag.objects.get(name="lab").users.exists()
    again = taken_in(text)
    assert (again.changes, again.same) == ([], 3)


def test_what_is_different_is_told_and_people_who_are_named_here_stay(text: str) -> None:
    lab = Flag.objects.get(name="lab")
    lab.everyone, lab.percent = True, None
    lab.save()
    lab.groups.clear()
    Flag.objects.create(name="only")

    report = taken_in(text)

    told = (("everyone", True, None), ("percent", None, "12.5"), ("groups", [], ["Lab"]))
    assert report.changes == [Change("flag", "lab", "changed", told), Change("flag", "only", "only here")]
    assert [user.username for user in lab.users.all()] == ["ines"]


def test_a_flag_for_a_group_that_is_nowhere_is_refused_and_nothing_changed(text: str) -> None:
    _, payload = config_transfer.read(text, PASSPHRASE)
    assert payload.flags is not None
    payload.flags[0].groups.append("Nowhere")
    Flag.objects.all().delete()

    with pytest.raises(ValidationFailed, match="Nowhere"):
        config_transfer.carry_over(payload)
    assert rows() == []


def test_a_site_without_flags_exports_none_takes_in_none_and_is_told(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert checks.feature_flags(None) == []
    monkeypatch.setattr(flags.apps, "is_installed", lambda name: name != "waffle")

    assert [one.id for one in checks.feature_flags(None)] == ["envelopes.I001"]
    assert flags.is_on("on", None) is None and flags.signatures() == {}
    own = config_transfer.export("profile", PASSPHRASE)
    assert config_transfer.read(own, PASSPHRASE)[1].flags is None
    taken_in(own)
    with pytest.raises(ValidationFailed, match="there are none here"):
        taken_in(text)
