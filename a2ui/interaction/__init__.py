"""What people do with a surface: from the DOM id or the names that they give to the component that is there, and edits,
clicks and requests for more of a list, checked and resolved."""
