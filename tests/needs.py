"""What a test may find absent: skipped with a reason on a person's machine, a failure where BEACH_REQUIRE names it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

import psycopg
import pytest
import redis

from beachsite import suite
from tests.shared import SHARED

POSTGRES = os.environ.get("BEACH_TEST_POSTGRES", "postgresql://root@127.0.0.1:5432/test")
REDIS = os.environ.get("BEACH_TEST_REDIS", "redis://127.0.0.1:6379/0")


def absent(name: str, reason: str) -> NoReturn:
    """End the test: `name` is not there."""
    if name in suite.required(os.environ):
        pytest.fail(f"{name} is required, but {reason}", pytrace=False)
    pytest.skip(f"{name}: {reason}")


def postgres() -> str:
    """The URL of a PostgreSQL server on which the user may create databases."""
    try:
        psycopg.connect(POSTGRES, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        absent("postgres", f"{urlsplit(POSTGRES).hostname} says: {error}")
    return POSTGRES


def redis_server() -> str:
    """The URL of a Redis server."""
    try:
        with redis.Redis.from_url(REDIS, socket_connect_timeout=3) as client:
            client.ping()
    except redis.RedisError as error:
        absent("redis", f"{urlsplit(REDIS).hostname} says: {error}")
    return REDIS


def nginx() -> str:
    """The path of nginx."""
    found = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        absent("nginx", "there is none (Debian: apt-get install nginx-light)")
    return found


def shared() -> Path:
    """The specification data beside the checkout."""
    if SHARED is None:
        absent("shared", "there is no specification data beside the checkout (set BEACH_SHARED)")
    return SHARED
