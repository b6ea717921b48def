"""The settings of the gallery: their types and defaults. A project sets them among Django's."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings


class GallerySettings:
    """Read anew each time, so `override_settings` holds at once."""

    @property
    def is_open(self) -> bool:
        """BEACH_GALLERY: whether everyone may open it, not only staff."""
        return bool(getattr(settings, "BEACH_GALLERY", False))

    @property
    def shared(self) -> Path | None:
        """BEACH_SHARED: the folder where the official examples are, if they are listed."""
        folder = getattr(settings, "BEACH_SHARED", "")
        return Path(folder) if folder else None

    @property
    def image_hosts(self) -> frozenset[str]:
        """BEACH_IMAGE_HOSTS: hosts whose pictures pages load, as the engine spells them: `.example.com` for all below
        one, for which the setting and the policy of the page have `*.example.com`."""
        hosts = getattr(settings, "BEACH_IMAGE_HOSTS", ())
        return frozenset(host.lower().removeprefix("*") for host in hosts)


conf = GallerySettings()
