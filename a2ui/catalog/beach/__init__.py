"""Our own catalog: the Basic Catalog, and components for long texts, tables, forms and charts."""

from a2ui.catalog.basic import BASIC_CATALOG, BASIC_CATALOG_1_0
from a2ui.catalog.beach.chart import Chart
from a2ui.catalog.beach.form import Form
from a2ui.catalog.beach.markdown import Markdown
from a2ui.catalog.beach.table import Table
from a2ui.protocol import catalog_ids

OWN = (Markdown(), Table(), Form(), Chart())
"""What it has beside the Basic Catalog."""

BEACH_CATALOG = BASIC_CATALOG.extended(catalog_ids.BEACH, components=OWN)
BEACH_CATALOG_1_0 = BASIC_CATALOG_1_0.extended(catalog_ids.BEACH_1_0, components=OWN)

__all__ = ["BEACH_CATALOG", "BEACH_CATALOG_1_0", "OWN", "Chart", "Form", "Markdown", "Table"]
