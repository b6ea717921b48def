from __future__ import annotations

import pytest
from django.contrib.auth import authenticate
from django.test import Client

from beachsite.demo.accounts import ensure_accounts

pytestmark = pytest.mark.django_db


def test_new_accounts_get_passwords_that_work() -> None:
    made = ensure_accounts()

    assert [account.name for account in made] == ["ada", "staff"]
    for account in made:
        assert len(account.password) >= 12
        assert authenticate(username=account.name, password=account.password) is not None


def test_a_second_run_changes_nothing() -> None:
    before = ensure_accounts()

    after = ensure_accounts()

    assert [account.password for account in after] == ["", ""]
    assert authenticate(username="ada", password=before[0].password) is not None


def test_reset_makes_the_old_password_useless() -> None:
    before = ensure_accounts()

    after = ensure_accounts(reset=True)

    assert authenticate(username="ada", password=before[0].password) is None
    assert authenticate(username="ada", password=after[0].password) is not None


def test_staff_may_look_decide_export_and_manage_peers_and_nothing_else() -> None:
    made = {account.name: account.password for account in ensure_accounts()}

    staff = authenticate(username="staff", password=made["staff"])
    ada = authenticate(username="ada", password=made["ada"])

    assert staff is not None
    assert ada is not None
    assert staff.is_staff
    assert not staff.is_superuser
    assert staff.has_perm("envelopes.view_session")
    assert staff.has_perm("envelopes.decide_approval")
    assert staff.has_perm("demo.view_booking")
    assert staff.has_perms(["envelopes.export_session", "envelopes.export_auditentry"])
    assert staff.has_perms(["envelopes.add_peer", "envelopes.change_peer"])
    assert not staff.has_perm("envelopes.delete_peer")
    assert not staff.has_perm("envelopes.delete_session")
    client = Client()
    client.force_login(staff)
    assert client.get("/admin/envelopes/peer/add/").status_code == 200
    assert not ada.is_staff
