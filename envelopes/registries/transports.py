"""Transports: the ways by which a conversation reaches somebody, each a folder that registers itself (D54).

What a transport may import is not known here, so everything that it brings is a callable: it is called when the
applications are loaded, not when the transport is registered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, get_args, runtime_checkable

from envelopes.errors import RegistrationError
from envelopes.protocol.rows import Row
from envelopes.registries.base import Registry, check_name
from envelopes.types import ConnectionClass, Json

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from django.urls import URLPattern, URLResolver
    from django.utils.safestring import SafeString
    from ninja import Router

    from a2ui import SurfaceChange, SurfaceSet

KNOWN = (
    *("panel", "live", "sse", "http", "a2a", "mcp", "email", "sms", "whatsapp", "webhook"),
    *("documents", "links", "buttons"),
)
"""The names of D13, that of patch documents, and those of doors for approvals. Part types may speak of one
(``allowed_transports``) before there is a folder for it."""

CAPABILITIES = frozenset({"surfaces", "previews", "attachments"})
"""What may be possible over a transport, as far as anybody asks: interfaces are drawn (``delivery.rules.Reader``), also
while they are being written (``delivery.wanted``); the bytes of files go along with what it delivers
(``delivery.rules.encloses``)."""


@dataclass(frozen=True)
class Connection:
    """One class of connections of the transport ``name`` (D13): each part as it comes, or the envelope of a settled
    turn. "" for none in particular, where no part type is bound to any."""

    name: str
    kind: ConnectionClass
    attaches: bool = False
    """Whether files go along with an envelope; else it has links to them."""


@dataclass(frozen=True)
class SessionFacts:
    """What a presenter is told about its session. ``locale`` and ``timezone`` are as stored: neither need exist."""

    session_id: str
    locale: str
    timezone: str


class Presenter(Protocol):
    """What the rows of one session mean to one transport: a pure function of the rows, and of what they did to
    surfaces. Two processes that read the same log make the same payloads."""

    @property
    def busy(self) -> bool:
        """Whether an agent is at work, or will be without anybody doing anything."""

    def apply(self, row: Row, changes: Sequence[SurfaceChange], prev: int) -> str | None:
        """Take in the next delivered row, with what it did to the surfaces. Returns what is sent of it, encoded for
        everybody who follows, or None for nothing; ``prev`` is the row of which something was sent before."""

    def place(self, turn: int) -> str | None:
        """Where text that this turn streams belongs now; None as long as there is no place for it."""

    def snapshot(self) -> Json:
        """Everything needed to go on in another process; the transport's ``presenter`` takes it."""


@dataclass(frozen=True)
class Frozen:
    """What no later row changes, so that a presenter need not keep it. Plain data.

    ``number`` counts what left the presenter's window, from 1, in order; ``name`` is "" for the thing itself and the
    DOM id of a piece that settled after the rest of it. ``seq`` is the row that began it. ``data`` is the presenter's
    own; None where nothing is left.
    """

    number: int
    name: str
    seq: int
    data: Json


@runtime_checkable
class Freezing(Protocol):
    """A presenter that lets go of what has settled: it is stored for it (``models.FrozenView``), and read again by its
    transport alone. The same rows freeze the same, in each process and each replay."""

    @property
    def frozen(self) -> dict[tuple[int, str], Frozen]:
        """What has settled and is not stored yet, by number and name."""

    def forget_frozen(self, stored: Iterable[tuple[int, str]]) -> None:
        """These are stored."""


@runtime_checkable
class SeesSurfaces(Protocol):
    """A presenter that tells of surfaces otherwise than as HTML, and so has to look at them."""

    def see(self, surfaces: SurfaceSet) -> None:
        """These are the session's surfaces from here on, as they are at the last row that was taken in."""


@dataclass(frozen=True)
class Drawn:
    """A piece of a conversation as a page of the transport shows it: the row that began it, 0 for what no row has, such
    as a gap, and its HTML, which is escaped or sanitised."""

    seq: int
    html: SafeString


@runtime_checkable
class Draws(Protocol):
    """A presenter that can draw what people saw, for a page that shows the conversation at its row, read only."""

    def drawn(self, surfaces: SurfaceSet) -> Sequence[Drawn]:
        """The conversation as its page would show it with these ``surfaces``, one below the other."""


Sockets: TypeAlias = Sequence[Any]
"""``django.urls.path`` with an ASGI application in place of a view; it finds what the path names in
``scope["url_route"]["kwargs"]``, as below channels' ``URLRouter``."""


class Background(Protocol):
    """Work beside the runner of a process, within one event loop."""

    async def start(self) -> None:
        """Begin, and return at once."""

    async def stop(self) -> None:
        """End, within a bound."""


class Command(Protocol):
    """A subcommand of ``manage.py beach``."""

    @property
    def name(self) -> str: ...

    @property
    def help(self) -> str: ...

    def add_arguments(self, parser: ArgumentParser) -> None: ...

    def handle(self, options: dict[str, Any]) -> Iterable[str]:
        """The lines to print. Raises ``BeachError``."""


def _none() -> Sequence[Any]:
    return ()


@dataclass(frozen=True)
class Transport:
    """One transport.

    ``presenter(facts, snapshot)`` makes a presenter of a session before its first row, or from a snapshot; None where
    nobody follows rows over it. Raise ``snapshot_version`` when a snapshot changes shape, or the same rows make
    something else. ``routes`` and ``sockets`` give its addresses, below those of the application. ``address`` is
    that of a socket which programs open, for the Agent Card, where it is not the API that they use. ``background`` runs
    in each process that runs turns, ``commands`` are those of ``manage.py beach``, ``admin`` registers pages there.
    """

    name: str
    kind: ConnectionClass
    presenter: Callable[[SessionFacts, Json | None], Presenter] | None = None
    snapshot_version: int = 1
    routes: Callable[[], Sequence[URLPattern | URLResolver]] = _none
    sockets: Callable[[], Sockets] = _none
    api: Callable[[], Router] | None = None
    address: str = ""
    capabilities: frozenset[str] = frozenset()
    background: Callable[[], Background] | None = None
    commands: Callable[[], Sequence[Command]] = _none
    admin: Callable[[], None] | None = None

    @property
    def connection(self) -> Connection:
        """What parts travel by, unless one of its connections is of the other class."""
        return Connection(self.name, self.kind, "attachments" in self.capabilities)

    def present(self, facts: SessionFacts, snapshot: Json | None = None) -> Presenter:
        """A presenter. Raises ``RegistrationError`` for a transport without any."""
        if self.presenter is None:
            raise RegistrationError(f"Nobody follows rows over {self.name}.", name=self.name)
        return self.presenter(facts, snapshot)


class TransportRegistry(Registry[Transport]):
    """Transports by name: those of ``KNOWN``; a consumer's own need a namespace (``acme.pager``), as part types do."""

    _NAME = re.compile(r"[a-z][a-z0-9-]{0,30}(\.[a-z0-9][a-z0-9-]{0,30})?")

    def register(self, item: Transport) -> Transport:
        check_name(self.kind, item.name, self._NAME)
        if item.name not in KNOWN and "." not in item.name:
            raise RegistrationError(
                f"The transport {item.name!r} needs a prefix of its own, such as 'acme.{item.name}'.",
                name=item.name,
            )
        if item.kind not in get_args(ConnectionClass):
            raise RegistrationError(
                f"The transport {item.name!r} is {item.kind!r}: one of {', '.join(get_args(ConnectionClass))}.",
                name=item.name,
            )
        if unknown := item.capabilities - CAPABILITIES:
            raise RegistrationError(
                f"The transport {item.name!r} names unknown capabilities: {', '.join(sorted(unknown))}.",
                name=item.name,
            )
        return super().register(item)


transports = TransportRegistry("transport")
