"""Results to look at in a browser: one HTML file for a batch, a sweep or a run over a data set."""
