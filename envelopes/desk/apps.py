"""The desk as two Django applications: its templates, and Django's admin with the desk as its site (docs/desk.md)."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.admin import apps as admin


class DeskTemplates(AppConfig):
    """The desk's templates: listed above the admin, whose own they take the place of."""

    name = "envelopes.desk"
    label = "envelopes_desk"
    verbose_name = "Beach desk"
    default = True


class DeskConfig(admin.AdminConfig):
    """Django's admin app, with the desk as its site: listed in place of ``django.contrib.admin``."""

    default = False
    default_site = "envelopes.desk.site.Desk"
