"""Label maps as arrays: numbering, connected regions, and how well two maps agree."""
