"""The database setting, from one URL. SQLite gets the options that keep it fast and free of "database is locked"."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

_GONE_HOST = {
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""A server that vanishes without a word (a host that lost its power, a firewall that forgot the connection) fails the
statement within half a minute; the kernel alone would wait for a quarter of an hour, and with it every session whose
thread waits. Seconds, seconds, times, milliseconds; none of it bounds a statement that a living server works on."""

_CACHE_KIB = 512
"""Of pages, for each connection, in place of 2 MiB: it is thrown away whenever another connection has written, and what
it holds is in the cache of the system as well. A process has half a dozen connections, and their caches filled for as
long as half an hour."""

_ENGINES = ("django.db.backends.sqlite3", "django.db.backends.postgresql")


def _sqlite_options(*, durable: bool) -> dict[str, Any]:
    # IMMEDIATE: a transaction that reads first and writes later would otherwise fail at once when another one wrote
    # in between, however long the timeout.
    synchronous = "NORMAL" if durable else "OFF"
    pragmas = {
        "journal_mode": "WAL",
        "synchronous": synchronous,
        "cache_size": -_CACHE_KIB,
    }
    return {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": " ".join(f"PRAGMA {name}={value};" for name, value in pragmas.items()),
    }


def _parsed(url: str, name: str) -> dict[str, Any]:
    # The URL itself stays out of the sentence: it may hold a password.
    refusal = ImproperlyConfigured(
        f"{name} cannot be used; write postgresql://user:password@host/name or sqlite:///path."
    )
    try:
        config = dict(dj_database_url.parse(url, conn_health_checks=True))
    except (ValueError, KeyError):
        raise refusal from None
    if config.get("ENGINE") not in _ENGINES:
        raise refusal
    return config


def database(url: str, data: Path, *, durable: bool = True, name: str = "DATABASE_URL") -> dict[str, Any]:
    """Django's entry for `url`, or for a SQLite file in `data` when there is none.

    ``durable``: whether what is committed outlives a machine that loses its power; tests go without. ``name``: the
    variable that the URL is from.
    """
    if not url:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        config: dict[str, Any] = {"ENGINE": "django.db.backends.sqlite3", "NAME": data / "beach.sqlite3"}
    else:
        config = _parsed(url, name)
    options = config.setdefault("OPTIONS", {})
    if config["ENGINE"] == "django.db.backends.sqlite3":
        config["OPTIONS"] = _sqlite_options(durable=durable) | options
        # Tests on these settings, an application's own, get a file too: in memory threads would share one cache, and
        # whoever finds a table in use there is refused at once, whatever the timeout. Two runs do not meet in it.
        if config["NAME"] != ":memory:":
            config["TEST"] = {"NAME": f"{config['NAME']}.test-{os.getpid()}"}
    elif config["ENGINE"] == "django.db.backends.postgresql" and durable:
        # Under ASGI every request has a thread of its own, so only a pool can reuse connections.
        options.setdefault("pool", {"min_size": 1, "max_size": 16, "timeout": 10})
    elif config["ENGINE"] == "django.db.backends.postgresql":
        options.setdefault("options", "-c synchronous_commit=off")
    if config["ENGINE"] == "django.db.backends.postgresql":
        config["OPTIONS"] = _GONE_HOST | options
    return config
