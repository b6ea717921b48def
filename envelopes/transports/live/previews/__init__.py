"""Pictures of surfaces that are still being written, on ``_ggui:preview`` (reading, 8.2; D65).

``Previews`` makes payloads of what streams for one reader; ``preview_violations`` tells what is wrong with one.
"""

from envelopes.transports.live.previews.checking import preview_violations
from envelopes.transports.live.previews.telling import Previews

__all__ = ["Previews", "preview_violations"]
