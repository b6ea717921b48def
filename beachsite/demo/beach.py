"""What the demo registers: Sally is there wherever the app is installed."""

from __future__ import annotations

from beachsite.demo.sally import SALLY
from envelopes.registries.actors import actors

actors.register(SALLY)
