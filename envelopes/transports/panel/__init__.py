"""The browser's chat panel: one WebSocket per open page."""
