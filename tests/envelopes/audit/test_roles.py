"""The roles of staff that a migration makes."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission

from envelopes.access import Principal
from tests import factories

pytestmark = pytest.mark.django_db

roles = import_module("envelopes.migrations.0028_roles")


def rights(name: str) -> set[str]:
    return set(Group.objects.get(name=name).permissions.values_list("codename", flat=True))


def test_viewer_approver_and_operator_have_what_they_need() -> None:
    roles.make_roles(apps, None)

    assert rights("Beach viewer") == set(roles.READS)
    assert rights("Beach approver") - rights("Beach viewer") == {"decide_approval"}
    assert rights("Beach operator") - rights("Beach approver") == {
        "operate_session",
        "export_session",
        "export_auditentry",
    }
    maria = factories.make_user("maria", staff=True)
    maria.groups.add(Group.objects.get(name="Beach approver"))
    who = Principal(user=maria)
    assert who.may_view_all() and who.may_decide_all()


def test_on_a_fresh_database_the_permissions_are_made_with_them() -> None:
    Permission.objects.filter(content_type__app_label="envelopes").delete()

    roles.make_roles(apps, None)

    assert rights("Beach approver") == {*roles.READS, "decide_approval"}
    assert Permission.objects.get(codename="operate_session").name.startswith("Can take over")


def test_a_role_that_somebody_changed_stays_as_it_is() -> None:
    roles.make_roles(apps, None)
    Group.objects.get(name="Beach viewer").permissions.clear()

    roles.make_roles(apps, None)

    assert rights("Beach viewer") == set()
    assert Group.objects.count() == 3
