"""The engine: what all surfaces of a host have in common. Immutable, shared by all sessions and threads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from a2ui.catalog.basic import BASIC_CATALOG, BASIC_CATALOG_1_0, MINIMAL_CATALOG
from a2ui.catalog.inline import INLINE_CATALOGS_NOT_ALLOWED, inline_catalog
from a2ui.catalog.registry import Catalogs
from a2ui.errors import A2uiError
from a2ui.options import EngineOptions
from a2ui.protocol import answers
from a2ui.surfaces import SurfaceSet

__all__ = ["Engine", "EngineOptions"]

_DEFAULTS = EngineOptions()


class Engine:
    """Makes the surfaces of sessions."""

    __slots__ = ("catalogs", "env", "options")

    def __init__(self, options: EngineOptions = _DEFAULTS) -> None:
        self.options = options
        offered = options.catalogs
        standard = (BASIC_CATALOG, MINIMAL_CATALOG, BASIC_CATALOG_1_0)
        self.catalogs = Catalogs((*(standard if offered is None else offered), *options.own))
        self.env = options.env

    def surfaces(self, *, prefix: str = "a") -> SurfaceSet:
        """The surfaces of a new session: none. `prefix`: what DOM ids begin with, where pages show another set too."""
        return SurfaceSet(self, prefix)

    def restore(self, snapshot: Mapping[str, Any], *, shown: bool = True) -> SurfaceSet:
        """The surfaces of a session from `SurfaceSet.snapshot()`: same HTML, same DOM ids.

        `shown`: pages have them already, so what changes from now on becomes fragments for those.
        """
        surfaces = SurfaceSet(self)
        surfaces.load(snapshot, shown=shown)
        return surfaces

    def with_inline(self, documents: Iterable[object]) -> Engine:
        """An engine that has these inline catalogs as well, for the sessions that they were negotiated for.

        Raises A2uiError: INLINE_CATALOGS_NOT_ALLOWED where the options take none, CATALOG_INVALID for what is no
        catalog.
        """
        if not self.options.inline_catalogs:
            message = "This renderer takes no inline catalogs: EngineOptions.inline_catalogs is off."
            raise A2uiError(message, code=INLINE_CATALOGS_NOT_ALLOWED, fault="agent")
        offered = self.catalogs
        for document in documents:
            offered = Catalogs([*offered, inline_catalog(document, offered)])
        return Engine(replace(self.options, catalogs=tuple(offered), own=()))

    def metadata(self, *, inline: bool = False) -> dict[str, Any]:
        """What goes with each message to an agent: `a2uiClientCapabilities` and `a2uiRendererCapabilities` (14.3).
        `inline`: the agent accepts inline catalogs, so those are announced too."""
        documents = self.catalogs.inline() if inline else []
        return answers.capabilities(self.catalogs.ids("0.9"), self.catalogs.ids("1.0"), documents)

    def agent_capabilities(self) -> dict[str, Any]:
        """What an agent that draws by this engine announces (3.3): the `params` of the extension on its card."""
        return answers.agent_capabilities(
            self.catalogs.ids("1.0", aliases=False), accepts_inline=self.options.inline_catalogs
        )

    def capabilities(self) -> dict[str, Any]:
        """`a2uiClientCapabilities` of v0.9 and v0.9.1 (14.3)."""
        found: dict[str, Any] = self.metadata()["a2uiClientCapabilities"]
        return found
