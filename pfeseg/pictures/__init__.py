"""Label maps, contours and embeddings as pictures."""
