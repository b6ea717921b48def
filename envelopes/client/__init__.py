"""The pages' own code and styles: how they are put together, found in a checkout, and built into the wheel."""
