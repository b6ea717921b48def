from __future__ import annotations

from django.urls import path

from envelopes.transports.panel import editing, finding, pages

urlpatterns = [
    path("", pages.index, name="index"),
    path("chat/new", pages.new_session, name="new"),
    path("chat/reach", pages.reach, name="reach"),
    path("chat/list", pages.session_list, name="list"),
    path("chat/find", finding.find_here, name="find_here"),
    path("chat/<str:public_id>/", pages.session_page, name="session"),
    path("chat/<str:public_id>/edit/<str:approval_id>", editing.edit_page, name="edit"),
    path("chat/<str:public_id>/find", finding.find, name="find"),
    path("chat/<str:public_id>/at/<str:target>", finding.place, name="place"),
    path("theme", pages.set_theme, name="theme"),
]
"""The pages of the chat."""
