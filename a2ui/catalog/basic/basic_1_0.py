"""The Basic Catalog 1.0: the components of 0.9 with a few properties more (section 8 of the reading of 1.0)."""

from a2ui.catalog.basic import media, slider, text_field
from a2ui.catalog.basic.basic_0_9 import BASIC_CATALOG
from a2ui.catalog.kinds import divisions, text
from a2ui.functions.basic_1_0 import BASIC_1_0
from a2ui.protocol import catalog_ids


class TextField(text_field.TextField):
    """With a hint in the empty field."""

    properties = {**text_field.TextField.properties, "placeholder": text}


class Video(media.Video):
    """With a picture in place of the film before it is played."""

    properties = {**media.Video.properties, "posterUrl": text}


class Slider(slider.Slider):
    """With a number of divisions between its ends, to which what people choose is rounded."""

    properties = {**slider.Slider.properties, "steps": divisions}


BASIC_CATALOG_1_0 = BASIC_CATALOG.extended(
    catalog_ids.BASIC_1_0,
    components=[TextField(), Video(), Slider()],
    functions=BASIC_1_0,
    aliases=catalog_ids.BASIC_1_0_ALIASES,
    protocol="1.0",
)
