"""Who may decide an approval: one rule, for one question and for lists of them (R10)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager

import pytest
from django.contrib.auth.models import Group as DjangoGroup
from django.contrib.auth.models import Permission as DjangoPermission
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from envelopes import access
from envelopes.access import NOBODY, Principal
from envelopes.approvals import editing, service
from envelopes.approvals.rights import decidable, find, kinds_of, right_to_decide
from envelopes.approvals.service import decide
from envelopes.errors import Forbidden, NotFound
from envelopes.log.append import Writer, writing
from envelopes.models import Approval, Decider, Participant
from envelopes.registries.policies import OWNER, STAFF, Ask, Group, Permission
from envelopes.registries.policies import Decider as Who
from tests import factories

pytestmark = pytest.mark.django_db

MANAGERS = Group("Travel managers")
VIEW_TURN = Permission("envelopes.view_turn")


@pytest.fixture(autouse=True)
def _actor() -> Iterator[None]:
    with factories.acting(factories.make_tool()):
        yield


def asked(owner: Principal, ask: Ask, *peers: str) -> Approval:
    return factories.make_approval(factories.make_session(owner), tool=factories.asking(ask, peers=peers))


def in_group(name: str = MANAGERS.name) -> Principal:
    user = factories.make_user()
    user.groups.add(DjangoGroup.objects.get_or_create(name=name)[0])
    return factories.make_principal(user)


@pytest.fixture
def people() -> dict[str, Principal]:
    """Everybody who could be of interest, by what they are; ``ada`` owns the conversation."""
    user = factories.make_user
    peer = access.program("peer", "7", name="desk")
    return {
        "ada": factories.make_principal(user()),
        "bo": factories.make_principal(user()),
        "staff": factories.make_principal(user(staff=True, permissions=["decide_approval"])),
        "not staff": factories.make_principal(user(permissions=["decide_approval"])),
        "viewer": factories.make_principal(user(staff=True, permissions=["view_session", "view_turn"])),
        "manager": in_group(),
        "other group": in_group("Pilots"),
        "root": factories.make_principal(user(superuser=True)),
        "guest": factories.make_visitor()[0],
        "peer": Principal(owner_key=peer.owner_key, name="desk", decides=True),
        "nobody": NOBODY,
    }


ROLES: list[tuple[list[Who], bool, dict[str, str]]] = [
    ([OWNER, STAFF], False, {"ada": "owner", "staff": "permission", "root": "permission"}),
    ([OWNER], False, {"ada": "owner"}),
    ([OWNER, STAFF], True, {"staff": "permission", "root": "permission"}),
    ([MANAGERS], False, {"manager": "group:Travel managers"}),
    ([MANAGERS, OWNER], False, {"manager": "group:Travel managers", "ada": "owner"}),
    ([VIEW_TURN], False, {"viewer": "permission", "root": "permission"}),
]


@pytest.mark.parametrize(("deciders", "four_eyes", "roles"), ROLES)
def test_one_rule_for_one_question_and_for_lists(
    people: dict[str, Principal], deciders: list[Who], four_eyes: bool, roles: dict[str, str]
) -> None:
    approval = asked(people["ada"], Ask(deciders, four_eyes=four_eyes), "desk")

    found = {name: role for name, who in people.items() if (role := right_to_decide(who, approval))}
    listed = {name for name, who in people.items() if decidable(who).filter(pk=approval.pk).exists()}

    assert found == roles
    assert listed == set(roles)


def test_a_peer_decides_what_names_it_and_is_its_own(people: dict[str, Principal]) -> None:
    peer = people["peer"]
    named, unnamed = asked(peer, Ask(), "desk"), asked(peer, Ask())
    foreign = asked(people["ada"], Ask(), "desk")
    without_scope = Principal(owner_key=peer.owner_key, name="desk")

    assert [right_to_decide(peer, one) for one in (named, unnamed, foreign)] == ["peer", None, None]
    assert right_to_decide(without_scope, named) is None
    assert list(decidable(peer)) == [named]
    assert not decidable(without_scope).exists()


def test_under_four_eyes_whoever_asked_does_not_decide_whatever_they_are() -> None:
    manager = in_group()
    approval = asked(manager, Ask([MANAGERS], four_eyes=True))

    assert right_to_decide(manager, approval) is None
    assert not decidable(manager).exists()
    assert right_to_decide(in_group(), approval) == "group:Travel managers"


def test_a_guest_who_signs_in_is_still_the_owner_under_four_eyes() -> None:
    guest, _ = factories.make_visitor()
    approval = asked(guest, Ask([MANAGERS], four_eyes=True))
    manager = in_group()
    Participant.objects.filter(session=approval.session, role="owner").update(user=manager.user, owner_key="")

    assert right_to_decide(manager, approval) is None
    assert not decidable(manager).exists()


def test_what_is_no_longer_open_is_nobodys_to_decide(people: dict[str, Principal]) -> None:
    ada = people["ada"]
    decided, expired, open_one = (asked(ada, Ask()) for _ in range(3))
    decide(decided.approval_id, "granted", ada)
    Approval.objects.filter(pk=expired.pk).update(expires_at=expired.requested_at)

    assert list(decidable(ada)) == [open_one]
    assert set(Decider.objects.values_list("approval", flat=True)) == {expired.pk, open_one.pk}


def test_who_has_approved_waits_for_the_others() -> None:
    one, other = in_group(), in_group()
    approval = asked(factories.make_visitor()[0], Ask([MANAGERS], needed=2))
    decide(approval.approval_id, "granted", one)

    assert not decidable(one).exists()
    assert list(decidable(other)) == [approval]


def test_a_list_costs_the_same_however_many_questions_there_are(people: dict[str, Principal]) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            list(decidable(people["manager"]))
        return len(found)

    asked(people["ada"], Ask([MANAGERS]))
    queries()  # The account's permissions are read once.
    few = queries()
    for _ in range(5):
        asked(people["ada"], Ask([MANAGERS]))

    assert queries() == few <= 3


def test_the_service_asks_the_same_rule(people: dict[str, Principal]) -> None:
    approval = asked(people["ada"], Ask([MANAGERS]))

    with pytest.raises(Forbidden):
        decide(approval.approval_id, "granted", people["ada"])
    with pytest.raises(NotFound):
        decide(approval.approval_id, "granted", people["bo"])
    decided = decide(approval.approval_id, "granted", people["manager"])

    (decision,) = decided.decisions.all()
    assert (decision.role, decision.by, decision.digest) == (
        "group:Travel managers",
        people["manager"].key,
        approval.digest,
    )


def test_a_permission_is_one_of_an_account_that_is_active(people: dict[str, Principal]) -> None:
    approval = asked(people["ada"], Ask([VIEW_TURN]))
    user = factories.make_user()
    user.user_permissions.add(DjangoPermission.objects.get(codename="view_turn"))
    user.is_active = False

    assert right_to_decide(Principal(user=user), approval) is None


def test_pages_are_told_as_what_one_decides(people: dict[str, Principal]) -> None:
    session = asked(people["ada"], Ask()).session
    kinds = {name: kinds_of(who, session) for name, who in people.items()}

    assert kinds["ada"] == ["owner", "member"]
    assert kinds["staff"] == ["staff", "member"]
    assert kinds["guest"] == kinds["peer"] == kinds["nobody"] == []


def test_what_is_no_id_is_not_looked_for() -> None:
    assert find("") is find("a\0b") is find("unknown") is None


@pytest.mark.parametrize("change", ["blocked", "demoted", "left the group", "no staff"])
def test_a_right_that_went_while_somebody_waited_is_none(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read of an account before the conversation was free, its permissions included, is of before."""
    staff = factories.make_user(staff=True, permissions=["decide_approval"])
    staff.groups.add(DjangoGroup.objects.create(name=MANAGERS.name))
    ask = Ask([MANAGERS]) if change == "left the group" else Ask()
    approval = asked(factories.make_visitor()[0], ask)

    def waited(session: int) -> AbstractContextManager[Writer]:
        if change == "demoted":
            staff.user_permissions.clear()
        elif change == "left the group":
            staff.groups.clear()
        else:
            field = "is_active" if change == "blocked" else "is_staff"
            User.objects.filter(pk=staff.pk).update(**{field: False})
        return writing(session)

    who = factories.make_principal(User.objects.get(pk=staff.pk))
    monkeypatch.setattr(service, "writing", waited)
    with pytest.raises(Forbidden):
        decide(approval.approval_id, "granted", who)
    monkeypatch.setattr(editing, "writing", waited)
    staff = User.objects.get(pk=staff.pk)
    with pytest.raises((Forbidden, NotFound)):
        editing.edit(approval.approval_id, approval.args | {"amount": 1}, who)
    assert Approval.objects.get(pk=approval.pk).state == "pending"
