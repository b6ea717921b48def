"""What models are told of A2UI 1.0: the rules, catalogs in few words, examples; all of it within a budget of bytes."""
