"""``manage.py beach approval-link``: a link to one question, for one user."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from django.contrib.auth import get_user_model

from envelopes.access import principal
from envelopes.approvals import rights
from envelopes.approvals.links import address_of, token_for
from envelopes.approvals.service import may_answer
from envelopes.errors import NotFound


class LinkCommand:
    """Prints the link; whoever has it decides as that user."""

    name = "approval-link"
    help = "prints a link by which one user can decide one approval"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The approval, and for whom."""
        parser.add_argument("approval", help="its ID, as the admin shows it")
        parser.add_argument("--for", dest="user", required=True, help="the username of whoever gets the link")
        parser.add_argument("--seconds", type=int, help="how long it holds (default: BEACH_LINK_SECONDS)")

    def handle(self, options: dict[str, Any]) -> Iterable[str]:
        """Raises ``BeachError`` where that user could not decide it, or the site has no address."""
        users = get_user_model()
        user = users._default_manager.filter(**{users.USERNAME_FIELD: options["user"]}).first()
        if user is None:
            raise NotFound(f"There is no user {options['user']!r}.")
        may_answer(options["approval"], "denied", principal(user, None))
        found = rights.find(options["approval"])
        if found is None:
            raise NotFound
        approval, _ = found
        return [address_of(token_for(approval, user, seconds=options["seconds"]))]
