"""The pages' own code and styles: what they are made of, how they are found, what the wheel has of them."""
