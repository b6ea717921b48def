"""Pages of the desk that are not there, or not open: in the desk's frame, for whoever sees it."""

from __future__ import annotations

import pytest
from django.test import Client

from tests import factories
from tests.envelopes.admin.pages import client_of, text_of

pytestmark = pytest.mark.django_db

NAV = 'class="dk-nav"'


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/admin/nothing/", 404, "Not found"),
        ("/admin/envelopes/session/7/conversation/", 404, "Not found"),
        ("/admin/envelopes/session/", 403, "No access"),
    ],
)
def test_staff_stay_in_the_desk(path: str, status: int, words: str) -> None:
    answer = client_of(factories.make_user(staff=True)).get(path)
    page = answer.content.decode()
    assert (answer.status_code, NAV in page, words in text_of(page)) == (status, True, True)
    # No section that they are in, where there is no page.
    assert path != "/admin/nothing/" or "aria-current" not in page.partition("</nav>")[0]


def test_others_and_other_pages_get_those_of_the_site() -> None:
    staff = client_of(factories.make_user(staff=True))
    answer = staff.get("/no-such-page")
    assert (answer.status_code, NAV in answer.content.decode()) == (404, False)
    for client in (Client(), client_of(factories.make_user())):
        assert client.get("/admin/nothing/").status_code == 302
