"""The routes of the gallery; mount them wherever you like."""

from __future__ import annotations

from django.urls import path

from a2ui.gallery.views import act, bench

app_name = "gallery"

urlpatterns = [
    path("", bench, name="bench"),
    path("act", act, name="act"),
]
