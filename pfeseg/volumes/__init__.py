"""Volumes: stacks of slices, cut into clusters of voxels by the embedding of a graph in 3-D."""
