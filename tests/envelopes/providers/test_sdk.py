"""A provider through an SDK that nobody here knows: it adds a client, a request, a stream and how errors are read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any, ClassVar

import httpx2
import pytest

from envelopes.errors import ProviderError
from envelopes.providers import clients, failures
from envelopes.providers.clients import Clients, close_clients
from envelopes.providers.port import ModelEvent, ModelRequest, ReplyEnded
from envelopes.providers.sdk import SdkProvider, from_conf, from_sdk

REQUEST = ModelRequest("Be brief.", [], [])


class SdkError(Exception):
    pass


class SaidNo(SdkError):
    pass


class Slow(SdkError):
    pass


class Gone(SdkError):
    pass


class Garbled(SdkError):
    pass


SDK: Any = SimpleNamespace(APITimeoutError=Slow, APIConnectionError=Gone, APIResponseValidationError=Garbled)


class Client:
    def __init__(self, address: str) -> None:
        self.address = address
        self.closed = 0
        self.fails = False

    async def close(self) -> None:
        self.closed += 1
        if self.fails:
            raise OSError("gone")


class Acme(SdkProvider[Client]):
    name = "acme"
    clients: ClassVar[Clients[Client]] = Clients()
    sdk_error = SdkError
    timeout = httpx2.Timeout(5)

    raised: BaseException | None = None
    loaded = 0
    ended = 0

    def make_client(self) -> Client:
        return Client(self._base_url)

    def load(self) -> None:
        self.loaded += 1

    def as_provider_error(self, error: Exception) -> ProviderError:
        def read(said: SaidNo, who: str) -> ProviderError:
            return failures.failed(failures.BUSY, who, kind="acme_busy", status=429)

        return from_sdk(error, self.label, SDK, SaidNo, read)

    def body(self, request: ModelRequest) -> dict[str, Any]:
        if request.actor == "broken":
            raise TypeError("a fault of ours")
        return {"words": request.system, "max": self._max_tokens}

    async def events(self, body: dict[str, Any]) -> AsyncGenerator[ModelEvent, None]:
        try:
            yield ReplyEnded(None, body)
            if self.raised is not None:
                raise self.raised
            yield ReplyEnded("end_turn", {"address": self.client().address})
        finally:
            self.ended += 1


@pytest.mark.parametrize(
    ("raised", "kind", "why"),
    [
        (Slow(), "timeout", "silent"),
        (httpx2.ReadTimeout("slow"), "timeout", "silent"),
        (Gone(), "connection", "broken"),
        (httpx2.RemoteProtocolError("gone"), "connection", "broken"),
        (Garbled(), "unreadable", "broken"),
        (ValueError("no JSON"), "unreadable", "broken"),
        (SaidNo(), "acme_busy", "busy"),
        (SdkError("secret words"), "refused", "refused"),
    ],
)
async def test_what_goes_wrong_is_told_in_our_terms(raised: Exception, kind: str, why: str) -> None:
    acme = Acme("key", "acme-1", label="Acme One")
    acme.raised = raised
    with pytest.raises(ProviderError) as found:
        [event async for event in acme.stream(REQUEST)]
    told = found.value.facts
    assert (told["kind"], told["why"], told["who"]) == (kind, why, "Acme One")
    assert "secret" not in found.value.message and found.value.__cause__ is raised
    assert acme.ended == 1
    await close_clients()


async def test_a_request_that_cannot_be_written_is_a_fault_of_ours() -> None:
    with pytest.raises(TypeError, match="a fault of ours"):
        await anext(Acme("key", "acme-1").stream(ModelRequest("", [], [], actor="broken")))


async def test_what_a_consumer_throws_is_not_the_models_failure() -> None:
    acme = Acme("key", "acme-1")
    stream = acme.stream(REQUEST)
    await anext(stream)
    with pytest.raises(SdkError):
        await stream.athrow(SdkError("of the consumer"))
    assert acme.ended == 1


async def test_connections_are_shared_by_address_and_key_and_closed_once() -> None:
    one, same, other = (
        Acme("key", "a", base_url="x"),
        Acme("key", "b", base_url="x"),
        Acme("other", "a", base_url="x"),
    )
    assert one.client() is same.client() is not other.client()
    held = one.client()
    await one.aclose()
    assert held.closed == 1 and other.client().closed == 0
    assert same.client() is not held
    await close_clients()


class BehindGateway(Acme):
    def make_client(self) -> Client:
        return Client(f"gateway of {self._base_url}")


async def test_so_many_are_kept_and_what_is_read_from_is_among_them(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where each person brings a key, a process would else keep a client for each until it ends."""
    monkeypatch.setattr(clients, "MOST", 3)
    made: list[Client] = []

    def client(key: str) -> Client:
        made.append(Acme(key, "acme-1").client())
        return made[-1]

    reader = Acme("reader", "acme-1")
    stream = reader.stream(REQUEST)
    await anext(stream)
    held = reader.client()
    first, second = client("1"), client("2")
    assert client("1") is first
    client("3")
    await asyncio.sleep(0)
    assert (held.closed, first.closed, second.closed) == (0, 0, 1), "the one that was asked for longest ago"
    with Acme("1", "acme-1").holding(), Acme("3", "acme-1").holding():
        made[-1].fails = True
        everybody = [client(str(number)) for number in range(4, 9)]
        await asyncio.sleep(0)
        assert held.closed == first.closed == 0 and [one.closed for one in everybody] == [1, 1, 1, 1, 0]
    await asyncio.sleep(0)
    await stream.aclose()
    await asyncio.sleep(0)

    open_now = {id(one) for one in (held, *made) if not one.closed}
    assert len(open_now) == 3, "also of what was held"
    await close_clients()
    assert all(one.closed == 1 for one in (held, *made))
    assert "could not be closed" in caplog.text


async def test_a_class_that_makes_its_clients_otherwise_gets_its_own() -> None:
    usual, other = Acme("key", "a", base_url="x"), BehindGateway("key", "a", base_url="x")
    assert (usual.client().address, other.client().address) == ("x", "gateway of x")
    held = other.client()
    await close_clients()
    assert held.closed == 1


async def test_it_warms_up_and_says_what_it_is() -> None:
    acme = Acme("key", "acme-1")
    await acme.warm()
    assert (acme.loaded, acme.name, acme.label, acme.model) == (1, "acme", "acme-1", "acme-1")
    first, _ = [event async for event in acme.stream(REQUEST)]
    assert isinstance(first, ReplyEnded) and first.usage == {"words": "Be brief.", "max": 16_000}
    await close_clients()


async def test_what_the_settings_say_of_every_model_reaches_it(settings: Any) -> None:
    settings.BEACH_MAX_TOKENS, settings.BEACH_EFFORT, settings.BEACH_TEMPERATURE = 77, "low", 0.5
    acme = Acme("key", "acme-1", **from_conf())
    assert acme.body(REQUEST)["max"] == 77
    assert (acme._effort, acme._temperature) == ("low", 0.5)


def test_a_cancelled_reader_ends_the_stream() -> None:
    async def main() -> int:
        acme = Acme("key", "acme-1")
        stream = acme.stream(REQUEST)
        await anext(stream)
        await stream.aclose()
        return acme.ended

    assert asyncio.run(main()) == 1
