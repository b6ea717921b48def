"""An application of somebody else, as they would write it: what it knows of the project is in the guides of docs/."""
