"""A connection outside of Django's bookkeeping: made from its settings, open until it is closed or found dead."""

from __future__ import annotations

from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper


def open_connection(alias: str) -> BaseDatabaseWrapper:
    """Connected, set up as Django sets up its own, in autocommit, for any thread, but one at a time.

    It is in no list, so no end of a request and no ``close_all`` finds it; and not from a pool, which would be short of
    one for ever.
    """
    wrapper = connections.create_connection(alias)
    options: dict[str, Any] = dict(wrapper.settings_dict["OPTIONS"])
    options.pop("pool", None)
    wrapper.settings_dict = {**wrapper.settings_dict, "OPTIONS": options}
    wrapper.inc_thread_sharing()
    wrapper.ensure_connection()
    return wrapper
