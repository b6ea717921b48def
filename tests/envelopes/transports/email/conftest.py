from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from envelopes.models import Approval
from tests.envelopes.transports.email.post import HOST, asked, decider


@pytest.fixture
def mailing(settings: Any) -> Any:
    """Mail to staff at once, and replies that are read."""
    settings.BEACH_APPROVAL_MAIL = "staff"
    settings.BEACH_APPROVAL_MAIL_SECONDS = 0
    settings.BEACH_SITE_URL = "https://chat.example"
    settings.BEACH_MAIL_REPLY_TO = "approvals@chat.example"
    settings.BEACH_MAIL_AUTHSERV = [HOST]
    return settings


@pytest.fixture
def grace() -> User:
    return decider("grace", "Grace", "Hopper")


@pytest.fixture
def approval() -> Approval:
    return asked()
