"""The Basic Catalog of 0.9 and of 1.0, and the minimal one, with the components that they are made of."""

from a2ui.catalog.basic.basic_0_9 import BASIC_CATALOG, MINIMAL_CATALOG
from a2ui.catalog.basic.basic_1_0 import BASIC_CATALOG_1_0

__all__ = ["BASIC_CATALOG", "BASIC_CATALOG_1_0", "MINIMAL_CATALOG"]
