"""The last line: a surface that shows a notice where a fault of ours keeps it from being drawn.

What is in the log outlives the code that wrote it: a conversation opens all the same. Hosts ask for it
(`EngineOptions.contained`); without, faults are raised, as tests want them.
"""

from __future__ import annotations

import logging
from typing import Any

from a2ui import ops
from a2ui.ops import Op
from a2ui.safety.raised import hold
from a2ui.state.components import ROOT
from a2ui.surface.surface import Surface

logger = logging.getLogger(__name__)

_NOTICE = '<div id="{}" class="a2-note">This card could not be shown.</div>'


class LastingSurface(Surface):
    """Where drawing raises, the root is a notice; each change, and each page that comes, tries again."""

    is_down = False
    """Whether pages show the notice."""

    def saved(self) -> tuple[Any, ...]:
        return self.is_down, super().saved()

    def load(self, saved: Any) -> None:
        self.is_down, rest = saved
        super().load(rest)

    def compile(self) -> None:
        if self.is_down:
            return
        try:
            super().compile()
        except Exception as error:  # noqa: BLE001 - logged
            self._give_up(error)
            self._ops = [self._notice()]

    def take_ops(self) -> list[Op]:
        if self.is_down and ROOT in self.store.by_id:
            self._body()
        return super().take_ops()

    def _body(self) -> str:
        try:
            body = super()._body()
        except Exception as error:  # noqa: BLE001 - logged
            self._give_up(error)
            return self._notice()[2]
        if self.is_down:
            self.is_down = False
            self._ops.append(ops.replace(self._root_id, body))
        return body

    def _repainted(self, redefined: dict[str, None]) -> list[Op]:
        try:
            return super()._repainted(redefined)
        except Exception as error:  # noqa: BLE001 - logged
            self._give_up(error)
        # Perhaps it is only that which fails. If so, that it can be drawn is among what is due by now.
        self._body()
        return [self._notice()] if self.is_down else []

    def _give_up(self, error: Exception) -> None:
        """It is as one that pages do not have yet, until it can be drawn again."""
        hold(error)
        logger.error("Surface %r of %r cannot be shown.", self.id, self.owner, exc_info=error)
        if self._journal.on:
            self._journal.attribute(self, "view")
        self.is_down, self._redefined, self._ops = True, {}, []
        self._renew()

    def _notice(self) -> Op:
        return ops.replace(self._root_id, _NOTICE.format(self._root_id))

    @property
    def _root_id(self) -> str:
        return f"{self.dom_id}-0"
