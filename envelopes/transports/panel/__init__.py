"""The browser's chat panel: its pages, one WebSocket per open page, and the presenter that draws the thread.

What an application needs to draw parts of its own is named here; nothing else of the folder is for others.
"""

from __future__ import annotations

from envelopes.transports.panel.presenter.drawers import Drawer, draw_with
from envelopes.transports.panel.presenter.part_view import PartView, RenderContext, stored
from envelopes.transports.panel.presenter.row import RowContext

__all__ = ["Drawer", "PartView", "RenderContext", "RowContext", "draw_with", "stored"]
