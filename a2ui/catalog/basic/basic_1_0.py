"""The Basic Catalog 1.0: the components of 0.9 with a few properties more (section 8 of the reading of 1.0)."""

from a2ui.catalog.basic import media, slider, text, text_field
from a2ui.catalog.basic.basic_0_9 import BASIC_CATALOG
from a2ui.catalog.kinds import deprecated, divisions, enum, literal_text
from a2ui.catalog.kinds import text as dynamic_text
from a2ui.functions.basic_1_0 import BASIC_1_0
from a2ui.protocol import catalog_ids
from a2ui.schema.shapes import no_more


class Text(text.Text):
    """Headings are Markdown in it; the variants of older versions are still drawn."""

    properties = {
        **text.Text.properties,
        "variant": enum(
            "caption",
            "body",
            older={
                f"h{level}": f"Text has no variant h{level}; headings are Markdown: `{'#' * level} ` in `text`."
                for level in range(1, 6)
            },
        ),
    }


class TextField(text_field.TextField):
    """With a hint in the empty field."""

    properties = {
        **text_field.TextField.properties,
        "placeholder": dynamic_text,
        "validationRegexp": deprecated(literal_text, "Use the function `regex` in @checks."),
    }
    shapes = {**text_field.TextField.shapes, "validationRegexp": no_more}


class Video(media.Video):
    """With a picture in place of the film before it is played."""

    properties = {**media.Video.properties, "posterUrl": dynamic_text}


class Slider(slider.Slider):
    """With a number of divisions between its ends, to which what people choose is rounded."""

    properties = {**slider.Slider.properties, "steps": divisions}


BASIC_CATALOG_1_0 = BASIC_CATALOG.extended(
    catalog_ids.BASIC_1_0,
    components=[Text(), TextField(), Video(), Slider()],
    functions=BASIC_1_0,
    aliases=catalog_ids.BASIC_1_0_ALIASES,
    protocol="1.0",
)
