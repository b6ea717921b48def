from __future__ import annotations

from django.urls import path

from envelopes.transports.panel.consumer import PanelConsumer

sockets = [path("ws/chat/<str:public_id>/", PanelConsumer.as_asgi())]
