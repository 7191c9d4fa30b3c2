"""What the commands do with files: one stage, or many images side by side."""
