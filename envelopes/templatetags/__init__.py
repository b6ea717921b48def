"""Template tags of the pages: what they have of the project around them."""
