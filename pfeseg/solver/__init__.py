"""Graphs and what is solved on them: piecewise flat embeddings and their spectral rivals.

Nothing here knows images.
"""
