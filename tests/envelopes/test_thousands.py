"""A project that writes 1,234 for people: what a browser or a script reads stays 1234."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.db.models import Model
from django.urls import reverse

from envelopes.models import Approval, Session
from tests import factories
from tests.envelopes.admin.pages import MODELS, client_of, one_of_each, url

pytestmark = pytest.mark.django_db

# What is read aloud or shown over something is for people.
_ATTRIBUTE = re.compile(r'\s((?!title|aria-|alt|placeholder)[a-z-]+)="([^"]*\d,\d{3}[^"]*)"')


def _far(*models: type[Model]) -> None:
    """Their next keys have four digits."""
    with connection.cursor() as cursor:
        for model in models:
            table = model._meta.db_table
            if connection.vendor == "sqlite":
                cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table])
                cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, 4999)", [table])
            else:
                cursor.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), 4999)", [table])


def test_numbers_in_attributes_have_no_separators(settings) -> None:  # type: ignore[no-untyped-def]
    settings.USE_THOUSAND_SEPARATOR = True
    _far(*MODELS)
    rows = one_of_each()
    session, approval = rows[Session], rows[Approval]
    assert approval.pk > 4999
    long = factories.make_session(title="Rows by the thousand")
    Session.objects.filter(pk=long.pk).update(last_seq=4999)
    factories.add_part(factories.make_turn(long), "response", text="Row five thousand.")
    client = client_of(factories.make_user("root", superuser=True))
    addresses = [
        *(url(model, "changelist") for model in MODELS),
        *(url(row, "change") for row in rows.values()),
        *(url(one, page) for one in (session, long) for page in ("change", "conversation")),
        url(approval, "history"),
        reverse("admin:index"),
        f"/chat/{long.public_id}/",
        "/",
        "/gallery/",
    ]
    for address in addresses:
        page = client.get(address)
        assert page.status_code == 200, address
        assert not _ATTRIBUTE.findall(page.content.decode()), address


def test_the_pattern_finds_what_it_looks_for() -> None:
    assert _ATTRIBUTE.findall('<a id="x" data-seq="1,234" title="1,234 rows">') == [("data-seq", "1,234")]
