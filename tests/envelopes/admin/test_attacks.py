"""The desk and the doors of an approval against a real server: forged posts, planted sessions, rights that end in the
middle of a page. Each gets an honest answer, and nothing has changed."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.liveserver import PASSWORD, Server, running
from tests.visitor import NO_TLS, Visitor

MAKE = """
import json
from django.contrib.auth.models import Group, User
from beachsite.demo.booking import BOOK_FLIGHT
from envelopes.approvals.links import token_for
from envelopes.models import ToolCall
from envelopes.registries.policies import Ask, Group as Named
from tests import factories

name = {name!r}
desk = Group.objects.get(name="Beach operator"), Group.objects.get(name="Beach approver")
managers, _ = Group.objects.get_or_create(name="Managers")
user = User.objects.create_user(name, password={password!r}, email=name + "@example.org", is_staff=True)
user.groups.add(*desk, managers)


def talk():
    return factories.make_session(factories.make_visitor()[0], actor="sally", title="Lisbon")


session = talk()
flight = {{
    "flight": "easyJet EJ4521", "date": "2027-08-15", "lead_passenger": "Ada Lovelace", "email": "", "tickets": 2,
    "total": 188, "currency": "GBP",
}}
approval = factories.make_approval(session, flight, tool=BOOK_FLIGHT)
both = factories.asking(Ask([Named("Managers")], needed=2))
two = factories.make_approval(talk(), {{"order": name}}, tool=both)
unknown = factories.make_call(factories.make_turn(talk()), state="unknown")
print(json.dumps({{
    "user": user.pk, "session": session.pk, "approval": approval.pk, "asked_as": approval.approval_id,
    "two": two.pk, "two_asked_as": two.approval_id, "call": unknown.pk,
    "link": "/approve/" + token_for(approval, user), "two_link": "/approve/" + token_for(two, user),
}}))
"""
LOOK = """
import json
from django.contrib.auth.models import User
from envelopes.models import Approval, AuditEntry, Claim, Note, Session, ToolCall
made = json.loads({made!r})
approvals = Approval.objects.filter(pk__in=[made["approval"], made["two"]]).order_by("pk")
session = Session.objects.get(pk=made["session"])
user = User.objects.get(pk=made["user"])
print(json.dumps({{
    "states": [one.state for one in approvals],
    "versions": [one.version for one in approvals],
    "given": [one.decisions.count() for one in approvals],
    "refused": [
        AuditEntry.objects.filter(approval_id=one.approval_id, kind="refused").count() for one in approvals
    ],
    "notes": Note.objects.filter(session=session).count(),
    "claims": Claim.objects.filter(session=session).count(),
    "taken": session.taken_by,
    "call": ToolCall.objects.get(pk=made["call"]).state,
    "password": user.check_password({password!r}),
    "active": user.is_active,
}}))
"""
UNTOUCHED = {
    "states": ["pending", "pending"],
    "versions": [1, 1],
    "given": [0, 0],
    "refused": [0, 0],
    "notes": 0,
    "claims": 0,
    "taken": "",
    "call": "unknown",
    "password": True,
    "active": True,
}


@pytest.fixture(scope="module")
def site(demo_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data = tmp_path_factory.mktemp("attacked") / "data"
    shutil.copytree(demo_data, data)
    with running(data, environ={"BEACH_SCRIPT_PACE": "6000"}) as server:
        yield server


def run(site: Server, code: str) -> Any:
    return json.loads(site.manage("shell", "-v", "0", "-c", code).splitlines()[-1])


def make(site: Server, name: str) -> dict[str, Any]:
    """One of the staff with what there is to decide."""
    made: dict[str, Any] = run(site, MAKE.format(name=name, password=PASSWORD))
    return made


def look(site: Server, made: dict[str, Any]) -> dict[str, Any]:
    """What has become of it."""
    found: dict[str, Any] = run(site, LOOK.format(made=json.dumps(made), password=PASSWORD))
    return found


class Browser(httpx.Client):
    """With cookies of its own, which follows no redirect."""

    def __init__(self, site: Server) -> None:
        super().__init__(base_url=site.url, timeout=30, trust_env=False, verify=NO_TLS)

    def token(self, page: str = "/accounts/login/") -> str:
        """That of a form on this page."""
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.get(page).text)
        assert found is not None, page
        return found[1]

    def sign_in(self, name: str, password: str = PASSWORD) -> httpx.Response:
        data = {"username": name, "password": password, "csrfmiddlewaretoken": self.token()}
        return self.post("/accounts/login/?next=/admin/", data=data)


def posts(made: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Every post of the desk, as its pages send it, but for the token."""
    approval, talk = f"/admin/envelopes/approval/{made['approval']}", conversation(made)
    many = {
        "action": "deny_selected",
        "_selected_action": str(made["approval"]),
        "asked_as": made["asked_as"],
    }
    return {
        f"{approval}/decide/": {"asked_as": made["asked_as"], "decision": "granted"},
        f"{approval}/edit/": {"asked_as": made["asked_as"], "a2": "Eve Adams"},
        "/admin/envelopes/approval/": {**many, "apply": "1", "reason": "No."},
        f"/admin/envelopes/toolcall/{made['call']}/resolve/": {"outcome": "failed", "note": "Seen."},
        f"{talk}?claim": {"act": "claim"},
        f"{talk}?note": {"act": "note", "key": "n1", "text": "A note"},
        f"{talk}?take": {"act": "take", "key": "t1"},
        f"{talk}?say": {"act": "say", "key": "s1", "text": "Hello"},
        f"{talk}?back": {"act": "back", "key": "b1"},
        f"/admin/auth/user/{made['user']}/change/": {"username": "mallory"},
        f"/admin/auth/user/{made['user']}/delete/": {"post": "yes"},
        "/admin/password_change/": {"old_password": PASSWORD, "new_password1": "k3jh4k5", "new_password2": "k3jh4k5"},
        "/admin/logout/": {},
        "/theme": {"theme": "dark"},
    }  # fmt: skip


def conversation(made: dict[str, Any]) -> str:
    return f"/admin/envelopes/session/{made['session']}/conversation/"


# -- forged posts ------------------------------------------------------------------------------------------------


def test_no_post_of_the_desk_does_anything_that_another_site_or_session_has_sent(site: Server) -> None:
    made = make(site, "forged")
    with Browser(site) as staff, Browser(site) as other:
        staff.sign_in("forged")
        other.sign_in("ann")
        theirs, mine = other.token("/accounts/login/"), staff.token("/admin/password_change/")
        foreign = {"Origin": "https://evil.example"}
        for address, data in posts(made).items():
            forged = {
                "no token": staff.post(address, data=data),
                "another's token": staff.post(address, data={**data, "csrfmiddlewaretoken": theirs}),
                "another site": staff.post(address, data={**data, "csrfmiddlewaretoken": mine}, headers=foreign),
                "a page of no site": staff.post(
                    address, data={**data, "csrfmiddlewaretoken": mine}, headers={"Origin": "null"}
                ),
                "as JSON": staff.post(address, json=data),
            }  # fmt: skip
            assert {what: answer.status_code for what, answer in forged.items()} == dict.fromkeys(
                forged, 403
            ), address
            assert (
                "Nothing was changed" in forged["no token"].text or "Nothing was" in forged["no token"].text
            )
        # And the one who is signed in still is.
        assert staff.get("/admin/").status_code == 200
    assert look(site, made) == UNTOUCHED


def test_the_form_behind_a_link_is_protected_twice(site: Server) -> None:
    """Who has the address may decide: it is the secret. The token keeps those from posting who never saw the page."""
    made = make(site, "linked")
    with Browser(site) as guest, Browser(site) as other, Browser(site) as ann:
        link = made["link"]
        theirs, mine = other.token(link), guest.token(link)
        for data, headers in (
            ({}, {}),
            ({"csrfmiddlewaretoken": theirs}, {}),
            ({"csrfmiddlewaretoken": mine}, {"Origin": "https://evil.example"}),
        ):
            answer = guest.post(link, data={"decision": "granted", **data}, headers=headers)
            assert answer.status_code == 403, data
        found = look(site, made)
        assert (found["states"], found["given"]) == (["pending", "pending"], [0, 0])
        # Whoever is signed in at that browser: it decides as the one whom it was made for.
        ann.sign_in("ann")
        decided = ann.post(link, data={"decision": "denied", "csrfmiddlewaretoken": ann.token(link)})
        assert decided.status_code == 302
    who = run(
        site,
        "import json; from envelopes.models import Decision\n"
        f"print(json.dumps([d.by for d in Decision.objects.filter(approval={made['approval']})]))",
    )
    assert who == [f"user:{made['user']}"]


def test_nobody_is_signed_in_by_another_site_or_sent_to_one(site: Server) -> None:
    for door in ("/accounts/login/", "/admin/login/", "/sign-in"):
        with Browser(site) as browser:
            data = {"username": "grace", "password": PASSWORD}
            assert browser.post(door, data=data).status_code == 403
            evil = {"Origin": "https://evil.example"}
            token = {"csrfmiddlewaretoken": browser.token(door)}
            assert browser.post(door, data={**data, **token}, headers=evil).status_code == 403
            assert "sessionid" not in browser.cookies
            answer = browser.post(f"{door}?next=https://evil.example/", data={**data, **token})
            assert answer.status_code == 302 and not answer.headers["location"].startswith(("http", "//"))


# -- sessions ----------------------------------------------------------------------------------------------------


def test_a_session_that_was_planted_is_not_the_one_that_is_signed_in(site: Server) -> None:
    with Browser(site) as attacker, Browser(site) as victim, Browser(site) as again:
        attacker.sign_in("ann")
        planted = attacker.cookies["sessionid"]
        for value in (planted, "k" * 32):
            victim.cookies.clear()
            victim.cookies.set("sessionid", value, domain="127.0.0.1")
            before = victim.token()
            assert victim.sign_in("grace").status_code == 302
            jar = {cookie.value for cookie in victim.cookies.jar if cookie.name == "sessionid"}
            assert jar - {value}
            again.cookies.clear()
            again.cookies.set("sessionid", value, domain="127.0.0.1")
            # What was planted is nobody who may see the desk.
            assert again.get("/admin/").status_code == 302
            assert victim.token("/admin/password_change/") != before


@pytest.mark.parametrize("how", ["signs out", "changes the password"])
async def test_what_stands_open_elsewhere_ends_with_the_session(site: Server, how: str) -> None:
    name = how.replace(" ", "-")
    site.add_user(name, PASSWORD)
    here = await Visitor.arrive(site, name=name, password=PASSWORD)
    await here.connect()
    there = await here.tab().connect()
    with Browser(site) as browser:
        for cookie, value in here.cookies.items():
            browser.cookies.set(cookie, value, domain="127.0.0.1")
        token = here.cookies["csrftoken"]
        if how == "signs out":
            assert browser.post("/accounts/logout/", data={"csrfmiddlewaretoken": token}).status_code == 302
        else:
            code = f"u = User.objects.get(username={name!r}); u.set_password('another one'); u.save()"
            site.manage("shell", "-v", "0", "-c", f"from django.contrib.auth.models import User\n{code}")
        for tab in (here, there):
            await tab.send({"type": "message", "id": "m1", "text": "Am I still here?"})
            assert await tab.ended() == 4411
        assert not any(frame.get("type") == "ack" for frame in [*here.frames, *there.frames])
        gone = await here.tab().dial()
        assert await gone.ended() == 4401


# -- rights that end in the middle of a page -----------------------------------------------------------------------


DEMOTED = {
    "out of the groups": "user.groups.clear()",
    "no staff": "User.objects.filter(pk=user.pk).update(is_staff=False)",
    "blocked": "User.objects.filter(pk=user.pk).update(is_active=False)",
}


@pytest.mark.parametrize("how", DEMOTED)
def test_a_page_that_was_open_does_nothing_once_its_reader_may_not(site: Server, how: str) -> None:
    made = make(site, how.replace(" ", "-"))
    with Browser(site) as staff:
        staff.sign_in(how.replace(" ", "-"))
        approval = f"/admin/envelopes/approval/{made['approval']}"
        token = staff.token(f"{approval}/change/")
        forms = {address: {**data, "csrfmiddlewaretoken": token} for address, data in posts(made).items()}
        staff.token(f"{approval}/edit/")
        talk = conversation(made)
        assert (
            staff.post(talk, data={"act": "take", "key": "t0", "csrfmiddlewaretoken": token}).status_code
            == 302
        )
        assert staff.get("/admin/pulse/").status_code == staff.get(made["link"]).status_code == 200
        before = look(site, made)
        demote = f"from django.contrib.auth.models import User\nuser = User.objects.get(pk={made['user']})\n"
        site.manage("shell", "-v", "0", "-c", demote + DEMOTED[how])

        # Its live updates stop at the next question, 1.5 seconds later.
        assert staff.get("/admin/pulse/").status_code in (302, 403)
        assert staff.get("/admin/envelopes/approval/?part=rows&shown=").status_code in (302, 403)
        assert staff.get(f"{talk}follow/").status_code == 404
        assert staff.get(f"/admin/envelopes/session/{made['session']}/export/").status_code in (302, 403)
        for address in (*forms, f"/admin/envelopes/approval/{made['two']}/decide/"):
            if address in ("/theme", "/admin/logout/", "/admin/password_change/"):
                continue
            data = forms.get(address) or {"asked_as": made["two_asked_as"], "decision": "granted"}
            answer = staff.post(address, data={**data, "csrfmiddlewaretoken": token})
            assert answer.status_code in (302, 403, 404), (address, answer.status_code)
            assert answer.status_code != 302 or "/login/" in answer.headers["location"], address
        # The link that they had got by mail says so, and tells nothing of the question.
        shown = staff.get(made["link"])
        assert (
            shown.status_code in (403, 404)
            and "Lisbon" not in shown.text
            and made["asked_as"] not in shown.text
        )
        token_now = staff.cookies["csrftoken"]
        tried = staff.post(made["link"], data={"decision": "granted", "csrfmiddlewaretoken": token_now})
        assert tried.status_code == shown.status_code
    after = look(site, made)
    # A link names its addressee and its question: that it was tried is known for sure. A blocked account is nobody.
    recorded = [0 if how == "blocked" else 1, 0]
    assert after == {**before, "refused": recorded, "active": how != "blocked"}


# -- two who have to approve ---------------------------------------------------------------------------------------


def test_one_person_is_one_whatever_door_they_take(site: Server) -> None:
    made = make(site, "twice")
    with Browser(site) as staff, Browser(site) as guest:
        staff.sign_in("twice")
        page = f"/admin/envelopes/approval/{made['two']}/"
        data = {"asked_as": made["two_asked_as"], "decision": "granted"}
        first = staff.post(
            f"{page}decide/", data={**data, "csrfmiddlewaretoken": staff.token(f"{page}change/")}
        )
        assert first.status_code == 302
        link = made["two_link"]
        second = guest.post(link, data={"decision": "granted", "csrfmiddlewaretoken": guest.token(link)})
        assert second.status_code == 409 and "Your decision was not applied." in second.text
        third = guest.post(
            link, data={"decision": "denied", "csrfmiddlewaretoken": guest.cookies["csrftoken"]}
        )
        assert third.status_code == 409
    found = look(site, made)
    assert (found["states"][1], found["given"][1], found["refused"][1]) == ("pending", 1, 2)
