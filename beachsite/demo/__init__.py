"""Sally, the travel agent of the demo: her data, her tools, her interfaces and the script that plays her."""
