"""What a flush hands out."""

from __future__ import annotations

from typing import Literal, NamedTuple

from a2ui.ops import Op


class SurfaceChange(NamedTuple):
    """What happened to a surface since the last flush.

    `created`: `html` is the whole element, there are no ops. `updated`: `ops` are the fragments in the order in
    which they have to be applied (D41). `deleted`: the element `dom_id` goes.
    """

    kind: Literal["created", "updated", "deleted"]
    owner: str
    surface_id: str
    dom_id: str
    html: str
    ops: list[Op]
