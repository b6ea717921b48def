"""Files that are sent while they are made end with the right to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Permission, User
from django.test import AsyncClient

from envelopes.admin import handing_out
from envelopes.errors import Forbidden
from envelopes.models import AuditEntry, Session
from tests import factories
from tests.envelopes.admin.pages import url

pytestmark = pytest.mark.django_db(transaction=True)

RIGHTS = ("view_session", "export_session", "view_auditentry", "export_auditentry")


def _loses_its_rights(user: User, client: AsyncClient) -> None:
    user.user_permissions.clear()


def _is_no_staff(user: User, client: AsyncClient) -> None:
    User.objects.filter(pk=user.pk).update(is_staff=False)


def _is_blocked(user: User, client: AsyncClient) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def _has_another_password(user: User, client: AsyncClient) -> None:
    user.set_password("another one")
    user.save()


def _has_signed_out(user: User, client: AsyncClient) -> None:
    client.session.flush()


def _nothing(user: User, client: AsyncClient) -> None:
    pass


def _exports(session: Session) -> list[str]:
    return [url(session, "export"), url(AuditEntry, "export", "csv"), url(AuditEntry, "export", "jsonl")]


@pytest.mark.parametrize(
    "change",
    [_loses_its_rights, _is_no_staff, _is_blocked, _has_another_password, _has_signed_out, _nothing],
)
async def test_an_export_is_cut_once_its_reader_may_not_have_it(
    change: Callable[[User, AsyncClient], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handing_out, "RECHECK_SECONDS", 0.0)
    monkeypatch.setattr("envelopes.audit.exporting.AT_ONCE", 1)

    def made() -> tuple[User, Session]:
        session = factories.make_session()
        with factories.acting(factories.make_tool()):
            factories.make_approval(session)
            factories.make_approval(session)
        return factories.make_user(staff=True, permissions=RIGHTS), session

    user, session = await sync_to_async(made)()
    for address in await sync_to_async(_exports)(session):
        client = AsyncClient()
        await client.aforce_login(user)
        answer: Any = await client.get(address)
        pieces = aiter(answer)
        assert await anext(pieces)
        await sync_to_async(change)(user, client)
        if change is _nothing:
            assert [piece async for piece in pieces]
            continue
        with pytest.raises(Forbidden):
            await anext(pieces)
        await sync_to_async(_restored)(user)


def _restored(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_staff=True, is_active=True)
    found = Permission.objects.filter(content_type__app_label="envelopes", codename__in=RIGHTS)
    user.user_permissions.set(found)


async def test_who_is_believed_is_not_asked_for_each_line(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(handing_out, "_clock", lambda: now)
    user, session = await sync_to_async(
        lambda: (factories.make_user(staff=True, permissions=RIGHTS), factories.make_session())
    )()
    client = AsyncClient()
    await client.aforce_login(user)
    answer: Any = await client.get(url(session, "export"))
    pieces = aiter(answer)
    await sync_to_async(user.user_permissions.clear)()
    assert await anext(pieces)
    now = handing_out.RECHECK_SECONDS
    with pytest.raises(Forbidden):
        await anext(pieces)
