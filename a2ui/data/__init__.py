"""The data of a surface: JSON values, the pointers into them, patches, and the model that is changed by both."""
