"""The laboratory's agent is there beside Sally."""

from __future__ import annotations

from tests.faults.lab.actor import register

register()
