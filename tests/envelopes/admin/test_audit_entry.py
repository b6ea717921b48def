"""The page of one entry of the history says what a list says, before how it is stored."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import pytest

from envelopes.models import AuditEntry
from envelopes.models.audit import AuditKind
from tests import factories
from tests.envelopes.admin.pages import client_of, parsed, url

pytestmark = pytest.mark.django_db


def test_an_entry_is_told_in_words_and_as_it_is_stored_behind_a_line() -> None:
    with factories.acting(factories.make_tool()):
        factories.make_approval(factories.make_session())
    entry = AuditEntry.objects.get(kind=AuditKind.REQUESTED)
    reader = factories.make_user(superuser=True)

    page = parsed(client_of(reader).get(url(entry, "change")).content)

    main, runtime = (_labels(one) for one in page.iter("fieldset"))
    assert main[:6] == ["When", "What happened", "As", "Where", "Request", "Conversation"]
    assert "Kind" not in main
    assert {"Kind", "Door", "Who", "Digest"} <= set(runtime)


def _labels(fieldset: Element) -> list[str]:
    return ["".join(label.itertext()).strip() for label in fieldset.iter("label")]
