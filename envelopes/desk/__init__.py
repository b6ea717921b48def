"""The desk: the frame that the admin's pages stand in, its start page, and how it writes times.

Apart from ``envelopes.admin``, which registers models when it is imported: Django makes its site before that.
"""

from __future__ import annotations


def is_here() -> bool:
    """Whether the project has the desk as its admin; models are registered in no other."""
    from django.apps import apps
    from django.contrib.admin import site

    if not apps.is_installed("django.contrib.admin"):
        return False
    from envelopes.desk.site import Desk

    return isinstance(site, Desk)
