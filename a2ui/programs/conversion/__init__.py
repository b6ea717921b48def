"""Programs of one version of the protocol as programs of another: what ``manage.py a2ui convert`` does.

`convert` reads v0.8, v0.9, v0.9.1 and both forms of 1.0 (bare keys and keys with ``@``), and writes 1.0 or v0.9.1 in
its canonical form. What the other version cannot say is told in notes, never dropped in silence; what does the same in
other words is told as well. A conversion knows messages, not catalogs of its own: properties of components that it does
not know are read by their form.
"""

from a2ui.programs.conversion.converting import TARGETS, Converted, Target, convert
from a2ui.programs.conversion.notes import Note

__all__ = ["TARGETS", "Converted", "Note", "Target", "convert"]
