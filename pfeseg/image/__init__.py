"""Images as arrays: colours, sizes, filters and texture."""
