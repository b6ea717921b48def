"""The planner as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class PlannerConfig(AppConfig):
    name = "tests.consumer"
    label = "planner"
