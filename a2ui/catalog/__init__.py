"""What a component is: property kinds, component types, catalogs."""
