"""Clustering of any data: the graph of the points, starts, their choice, and the estimators.

The only room that imports scikit-learn, on whose base classes the estimators stand.
"""

METHOD_VERSION = 1
"""Goes up whenever the same data and settings give other clusters than before."""
