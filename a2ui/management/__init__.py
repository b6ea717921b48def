"""Commands of the renderer."""
