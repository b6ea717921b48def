"""Nonces are used up once, in all processes, and are forgotten only when nobody would take them any more."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.utils import timezone

from envelopes import nonces
from envelopes.errors import Unavailable
from envelopes.models import Nonce


@pytest.mark.django_db
def test_one_is_used_up_once_in_its_scope() -> None:
    until = time.time() + 60

    assert nonces.DatabaseNonces("a").use("n" * 16, until)
    assert not nonces.DatabaseNonces("a").use("n" * 16, until)
    assert nonces.DatabaseNonces("b").use("n" * 16, until)
    assert nonces.DatabaseNonces("a").use("\ud800" * 16, until)


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_one_has_it() -> None:
    # Threads share the one connection of a database in memory.
    workers = 1 if connection.vendor == "sqlite" else 8

    def use(_: int) -> bool:
        try:
            return nonces.DatabaseNonces("a").use("n" * 16, time.time() + 60)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(workers) as pool:
        assert sum(pool.map(use, range(8))) == 1


@pytest.mark.django_db
def test_what_has_expired_is_forgotten_a_piece_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nonces, "PURGED_AT_ONCE", 2)
    gone, kept = timezone.now() - timedelta(seconds=1), timezone.now() + timedelta(minutes=1)
    for number, at in enumerate((gone, gone, gone, kept)):
        Nonce.objects.create(scope="a", digest=str(number), expires_at=at)

    assert [nonces.purge(), nonces.purge(), nonces.purge()] == [2, 1, 0]
    assert Nonce.objects.get().digest == "3"


@pytest.mark.django_db
def test_a_scope_that_is_full_forgets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nonces, "MOST", 2)
    store, until = nonces.DatabaseNonces("a"), time.time() + 60
    assert store.use("one", until) and store.use("two", until)

    with pytest.raises(Unavailable):
        store.use("three", until)
    assert not store.use("one", until)
    assert nonces.DatabaseNonces("b").use("three", until)
