"""Regions of an image: their hierarchy, their boundaries at full size, their clean-up."""
