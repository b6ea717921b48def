"""Surfaces for front ends that draw by themselves: A2UI messages of the version that each of them reads, such that its
components and data are ours.

``Mirror`` follows the surfaces of a session row by row and tells what a reader needs; ``initial`` is a surface for one
that has nothing of it yet, ``writes`` the smallest messages from one data model to another.
"""

from envelopes.transports.live.surfaces.mirror import Mirror, Update
from envelopes.transports.live.surfaces.telling import initial
from envelopes.transports.live.surfaces.versions import VERSIONS, Dialect, Version, as_said_in, dialect_for
from envelopes.transports.live.surfaces.writes import writes

__all__ = [
    "VERSIONS",
    "Dialect",
    "Mirror",
    "Update",
    "Version",
    "as_said_in",
    "dialect_for",
    "initial",
    "writes",
]
