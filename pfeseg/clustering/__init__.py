"""Rows of numbers into groups: k-means and Gaussian mixtures."""
