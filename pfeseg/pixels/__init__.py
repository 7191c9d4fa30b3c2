"""From a small image to the graph of its pixels and the start of the solver."""
