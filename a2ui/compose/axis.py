"""The axis of a chart, for whoever draws one outside of a surface: the same steps as in the component ``Chart``."""

from a2ui.catalog.beach.scale import scale

__all__ = ["scale"]
