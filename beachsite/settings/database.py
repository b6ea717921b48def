"""The database setting, from one URL. SQLite gets the options that keep it fast and free of "database is locked"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dj_database_url


def _sqlite_options(*, durable: bool) -> dict[str, Any]:
    # IMMEDIATE: a transaction that reads first and writes later would otherwise fail at once when another one wrote
    # in between, however long the timeout.
    synchronous = "NORMAL" if durable else "OFF"
    return {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": f"PRAGMA journal_mode=WAL; PRAGMA synchronous={synchronous};",
    }


def database(url: str, data: Path, *, durable: bool = True) -> dict[str, Any]:
    """Django's entry for `url`, or for a SQLite file in `data` when there is none."""
    if not url:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        config: dict[str, Any] = {"ENGINE": "django.db.backends.sqlite3", "NAME": data / "beach.sqlite3"}
    else:
        config = dict(dj_database_url.parse(url, conn_health_checks=True))
    options = config.setdefault("OPTIONS", {})
    if config["ENGINE"] == "django.db.backends.sqlite3":
        config["OPTIONS"] = _sqlite_options(durable=durable) | options
    elif config["ENGINE"] == "django.db.backends.postgresql" and durable:
        # Under ASGI every request has a thread of its own, so only a pool can reuse connections.
        options.setdefault("pool", {"min_size": 1, "max_size": 16, "timeout": 10})
    return config
