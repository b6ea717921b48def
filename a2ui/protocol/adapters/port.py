"""What an adapter is, and what it may ask of the surfaces it translates for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from a2ui.errors import VALIDATION_FAILED, A2uiError, must_be

if TYPE_CHECKING:
    from a2ui.catalog.registry import Catalogs
    from a2ui.surface.surface import Surface


class Step(NamedTuple):
    """One v0.9 message. Where it is not `needed`, it is reported if it is refused, and the others count."""

    message: dict[str, Any]
    needed: bool = True


class Host(Protocol):
    """The surfaces of the agent that sent the message."""

    @property
    def catalogs(self) -> Catalogs: ...

    def surface(self, surface_id: object) -> Surface | None:
        """The live surface of that id."""


class Adapter(Protocol):
    """One other version."""

    version: ClassVar[str]

    def translate(self, message: dict[str, Any], host: Host) -> list[Step]:
        """The v0.9 messages that do the same; those that are needed are applied all or none. Raises A2uiError for what
        is refused."""

    def outgoing(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """An `action` or `error` message in the form of this version."""


def refusal(message: str, path: str = "", code: str = VALIDATION_FAILED, **facts: Any) -> A2uiError:
    """The error that refuses a message."""
    return A2uiError(message, code=code, path=path, fault="agent", **facts)


def native(verb: str, body: Mapping[str, Any], *, needed: bool = True) -> Step:
    """A step of this verb and body."""
    return Step({"version": "v0.9", verb: dict(body)}, needed)


def body_of(message: Mapping[str, Any], verbs: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    """The one verb of a message and its body, an object with a surfaceId that is a text."""
    found = [verb for verb in verbs if verb in message]
    if len(found) != 1:
        raise refusal(
            f"`message` must have exactly one of {', '.join(verbs)}; got {', '.join(found) or 'none'}."
        )
    unknown = message.keys() - {"version", found[0]}
    if unknown:
        key = str(min(unknown, key=str))[:40]
        raise refusal(f"Unknown key {key!r}.", "/" + key.replace("~", "~0").replace("/", "~1"))
    body = message[found[0]]
    if not isinstance(body, dict):
        raise refusal(must_be(found[0], "a JSON object", body), f"/{found[0]}")
    return found[0], body
