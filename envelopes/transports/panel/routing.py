from __future__ import annotations

from django.urls import path

from envelopes.transports.panel.consumer import PanelConsumer

websocket_urlpatterns = [path("ws/chat/<str:public_id>/", PanelConsumer.as_asgi())]
