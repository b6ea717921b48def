"""The data a surface holds: pointers, patches and the data model."""
