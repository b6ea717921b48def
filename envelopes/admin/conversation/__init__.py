"""One conversation as its people saw it, at any row, with what the runtime did folded between their words; and what
staff do with it: notes, claim, take over, hand back."""
