"""Approval doors: where a person may answer an approval, such as the chat, the admin, a link in a mail."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from envelopes.registries.base import Registry

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


@dataclass(frozen=True)
class Door:
    """``name`` is stored with each decision. ``label`` says where, after "Approved" or a person's name ("in chat").
    ``names_owner``: who decides there is the conversation's own, so a name says enough; elsewhere the place is told
    beside it."""

    name: str
    label: str | _StrPromise
    names_owner: bool = False


class DoorRegistry(Registry[Door]):
    """Approval doors by name, of at most 16 characters. An application's own are registered here too."""

    _NAME = re.compile(r"[a-z][a-z0-9.-]{0,15}")


doors = DoorRegistry("approval door")

CHAT = doors.register(Door("chat", _("in chat"), names_owner=True))
ADMIN = doors.register(Door("admin", _("in the desk")))
POLICY = doors.register(Door("policy", _("by a rule")))
LINK = doors.register(Door("link", _("through a link")))
MAIL = doors.register(Door("mail", _("by email")))
WEBHOOK = doors.register(Door("webhook", _("by a button elsewhere")))
SLACK = doors.register(Door("slack", _("in Slack")))
WHATSAPP = doors.register(Door("whatsapp", _("in WhatsApp")))
