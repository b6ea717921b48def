"""The one rule of who may see and do what, and that every door asks it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core import signing
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings

import envelopes
from envelopes import access
from envelopes.access import NOBODY
from envelopes.errors import Conflict, NotFound
from envelopes.models import Participant, Session
from tests import factories
from tests.together import together

pytestmark = pytest.mark.django_db


def test_an_owner_sees_their_own_and_no_other() -> None:
    ada, bo = factories.make_user(), factories.make_user()
    hers, his = factories.make_session(ada), factories.make_session(bo)

    assert list(access.visible_sessions(factories.make_principal(ada))) == [hers]
    assert access.owns(factories.make_principal(bo), his)
    assert not access.owns(factories.make_principal(bo), hers)


def test_staff_with_the_permission_see_all_and_own_none() -> None:
    session = factories.make_session()
    viewer = factories.make_principal(factories.make_user(staff=True, permissions=["view_session"]))

    assert list(access.visible_sessions(viewer)) == [session]
    assert not access.owned_sessions(viewer).exists()
    assert not access.owns(viewer, session)


@pytest.mark.parametrize(("staff", "permissions"), [(True, []), (False, ["view_session"]), (False, [])])
def test_neither_staff_nor_the_permission_alone_is_enough(staff: bool, permissions: list[str]) -> None:
    factories.make_session()
    who = factories.make_principal(factories.make_user(staff=staff, permissions=permissions))

    assert not access.visible_sessions(who).exists()


def test_nobody_may_nothing() -> None:
    session = factories.make_session()
    visitor, _ = factories.make_visitor()
    Participant.objects.create(session=session, role="agent", name="agent without a key")

    for who in (NOBODY, access.principal(AnonymousUser(), None), access.principal(None, "")):
        assert not who.is_known
        assert not access.visible_sessions(who).exists()
        assert not access.owns(who, session)
    assert not access.owns(visitor, session)


def test_an_inactive_account_is_nobody() -> None:
    ada = factories.make_user()
    ada.is_active = False

    assert access.principal(ada, None) is NOBODY


def test_the_same_answer_for_what_is_not_there_and_what_is_not_theirs() -> None:
    session = factories.make_session()
    bo = factories.make_principal(factories.make_user())
    said = set()
    guesses = [
        session.public_id,
        "sess-1",
        "1",
        session.public_id.upper(),
        f"{session.public_id}/",
        "../x",
        "\0",
        str(session.pk),
    ]
    for guess in guesses:
        with pytest.raises(NotFound) as refused:
            access.get_session(bo, guess)
        said.add(str(refused.value.as_dict()))

    assert len(said) == 1


# -- the cookie of a visitor -------------------------------------------------------------------------------------


def test_a_visitor_is_known_by_a_cookie_and_the_table_does_not_sign_in() -> None:
    visitor, cookie = factories.make_visitor()
    session = factories.make_session(visitor)
    stored = session.participants.get(role="owner").owner_key

    assert access.owns(access.principal(None, cookie), session)
    assert stored not in cookie
    assert not access.owns(access.principal(None, stored), session)
    assert not access.owns(access.principal(None, signing.dumps(stored, salt="beach.owner")), session)


def test_two_visitors_are_two() -> None:
    (one, _), (_, cookie) = factories.make_visitor(), factories.make_visitor()
    session = factories.make_session(one)

    assert not access.visible_sessions(access.principal(None, cookie)).filter(pk=session.pk).exists()


@pytest.mark.parametrize(
    "spoil", [lambda c: c[:-1], lambda c: c + "x", lambda c: "x", lambda c: signing.dumps("t")]
)
def test_a_forged_cookie_is_nobody(spoil: object) -> None:
    _, cookie = factories.make_visitor()

    assert access.principal(None, spoil(cookie)) is NOBODY  # type: ignore[operator]


def test_an_old_cookie_is_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    _, cookie = factories.make_visitor()
    monkeypatch.setattr(access, "_YEAR", -1)

    assert access.principal(None, cookie) is NOBODY


def test_without_the_setting_a_cookie_is_nothing(settings: Settings) -> None:
    _, cookie = factories.make_visitor()
    settings.BEACH_ANONYMOUS = False

    assert access.principal(None, cookie) is NOBODY


def test_the_cookie_cannot_be_read_by_scripts() -> None:
    response = HttpResponse()
    access.set_owner_cookie(response, "value", secure=True)
    cookie = response.cookies[access.COOKIE]

    assert cookie["httponly"] and cookie["secure"] and cookie["samesite"] == "Lax"


def test_signing_in_adopts_what_was_begun_without() -> None:
    visitor, cookie = factories.make_visitor()
    session, others = factories.make_session(visitor), factories.make_session(factories.make_visitor()[0])
    ada = factories.make_user("ada")
    client = Client()
    client.cookies[access.COOKIE] = cookie

    assert client.login(username="ada", password="pw")
    client.post("/accounts/login/", {"username": "ada", "password": "pw"})

    assert list(access.owned_sessions(factories.make_principal(ada))) == [session]
    # The cookie is in a browser that others may use after a sign-out: it opens nothing any more.
    assert not access.visible_sessions(access.principal(None, cookie)).exists()
    assert not access.owns(factories.make_principal(ada), others)


def test_adopting_needs_the_cookie() -> None:
    factories.make_session(factories.make_visitor()[0])

    assert access.adopt_sessions(factories.make_user(), None) == 0
    assert access.adopt_sessions(factories.make_user(), "forged") == 0


def test_adopting_twice_hands_nothing_to_a_second_account() -> None:
    visitor, cookie = factories.make_visitor()
    session = factories.make_session(visitor)
    ada, bo = factories.make_user(), factories.make_user()

    assert (access.adopt_sessions(ada, cookie), access.adopt_sessions(bo, cookie)) == (1, 0)
    assert access.owns(factories.make_principal(ada), session)


# -- every door --------------------------------------------------------------------------------------------------


def test_no_door_makes_a_rule_of_its_own() -> None:
    """What serves a request gets sessions through ``envelopes.access``, and asks no role or permission itself."""
    package = Path(envelopes.__file__).parent
    doors = [
        *(package / "artifacts").rglob("*.py"),
        *package.glob("views*.py"),
        *(package / "transports").rglob("*.py"),
    ]
    found = []
    for door in (path for path in doors if path.exists()):
        for node in ast.walk(ast.parse(door.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                name = ast.unparse(node)
                if name in ("Session.objects", "Participant.objects", "Approval.objects") or node.attr in (
                    "is_staff",
                    "is_superuser",
                    "has_perm",
                ):
                    found.append(f"{door.name}:{node.lineno} {name}")

    assert found == []


def test_the_chat_page_asks_the_rule() -> None:
    session: Session = factories.make_session()
    stranger, staff = Client(), Client()
    stranger.force_login(factories.make_user())
    staff.force_login(factories.make_user(staff=True, permissions=["view_session"]))

    assert stranger.get(f"/chat/{session.public_id}/").status_code == 404
    assert Client().get(f"/chat/{session.public_id}/").status_code in (302, 403, 404)


@pytest.mark.django_db(transaction=True)
def test_one_key_begins_one_conversation_however_many_ask_at_once() -> None:
    """Requests that were sent again, by the same browser and by others, each in a process's own connection."""
    key = "k" * 22
    ada, bo = (factories.make_principal(factories.make_user(name)) for name in ("ada", "bo"))
    nobody = [access.new_anonymous_owner(key)[0] for _ in range(4)]

    outcomes = together(*(lambda who=who: access.begin_session(who, "sally", key) for who in nobody))
    assert sorted(made for _, made in outcomes) == [False, False, False, True]
    session = Session.objects.get()
    assert {begun.pk for begun, _ in outcomes} == {session.pk}

    # It was begun without a name: the first to bring the key in their own gets it, and nobody after that.
    outcomes = together(
        *(lambda who=who: access.begin_session(who, "sally", key) for who in (ada, bo, ada, bo))
    )
    refused = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    assert [type(error) for error in refused] == [Conflict, Conflict]
    assert sorted(access.owns(who, session) for who in (ada, bo)) == [False, True]
    assert session.participants.count() == 2
