"""The functions of the basic catalog, what a function is and how it is found, and the grammar of formatString."""
