"""The admin of this site is the desk (docs/desk.md)."""

from __future__ import annotations

from django.contrib.admin.apps import AdminConfig


class DeskConfig(AdminConfig):
    """Django's admin app, with the desk as its site."""

    default_site = "envelopes.desk.site.Desk"
