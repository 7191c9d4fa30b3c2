"""Clustering of any data: the graph of the points, starts, their choice, and the estimators.

The only room that imports scikit-learn, on whose base classes the estimators stand.
"""
