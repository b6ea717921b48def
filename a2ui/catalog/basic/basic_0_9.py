"""The Basic Catalog 0.9, and the minimal one, which serves five of the same components (rulebook 16, 18)."""

from a2ui.catalog.basic.button import Button
from a2ui.catalog.basic.card import Card
from a2ui.catalog.basic.check_box import CheckBox
from a2ui.catalog.basic.choice_picker import ChoicePicker
from a2ui.catalog.basic.containers import Column, List, Row
from a2ui.catalog.basic.date_time_input import DateTimeInput
from a2ui.catalog.basic.divider import Divider
from a2ui.catalog.basic.icon import Icon
from a2ui.catalog.basic.image import Image
from a2ui.catalog.basic.media import AudioPlayer, Video
from a2ui.catalog.basic.modal import Modal
from a2ui.catalog.basic.slider import Slider
from a2ui.catalog.basic.tabs import Tabs
from a2ui.catalog.basic.text import Text
from a2ui.catalog.basic.text_field import TextField
from a2ui.catalog.registry import Catalog
from a2ui.functions.basic import BASIC as BASIC_FUNCTIONS
from a2ui.functions.basic import MINIMAL as MINIMAL_FUNCTIONS
from a2ui.protocol import catalog_ids

BASIC_CATALOG = Catalog(
    catalog_ids.BASIC,
    [
        Text(),
        Image(),
        Icon(),
        Video(),
        AudioPlayer(),
        Row(),
        Column(),
        List(),
        Card(),
        Tabs(),
        Modal(),
        Divider(),
        Button(),
        TextField(),
        CheckBox(),
        ChoicePicker(),
        Slider(),
        DateTimeInput(),
    ],
    BASIC_FUNCTIONS,
    aliases=catalog_ids.BASIC_ALIASES,
    protocol="0.9",
)

MINIMAL_CATALOG = Catalog(
    catalog_ids.MINIMAL,
    [Text(), Row(), Column(), Button(), TextField()],
    MINIMAL_FUNCTIONS,
    aliases=catalog_ids.MINIMAL_ALIASES,
    protocol="0.9",
)
