"""The routes of the chat."""

from __future__ import annotations

from django.urls import path

from envelopes import artifacts, views

app_name = "envelopes"

urlpatterns = [
    path("", views.index, name="index"),
    path("chat/new", views.new_session, name="new"),
    path("chat/reach", views.reach, name="reach"),
    path("chat/list", views.session_list, name="list"),
    path("chat/<str:public_id>/", views.session_page, name="session"),
    path("artifacts/<str:artifact_id>", artifacts.download, name="artifact"),
    path("theme", views.set_theme, name="theme"),
]
