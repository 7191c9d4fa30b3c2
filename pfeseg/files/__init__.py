"""Everything on disk: what is read, what is written, and how it is named."""
