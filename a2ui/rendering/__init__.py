"""From component definitions to HTML, and from changes of the data to the fragments that changed: the first drawing,
places and how they are compiled, lists, the index of what reads what, repaints."""
