"""A transport of somebody else, as they would write it: what it may know of the runtime are public names."""
