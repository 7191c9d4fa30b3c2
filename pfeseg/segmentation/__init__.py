"""The walk from an image to its labels, said once: settings, steps, methods, results, sweeps."""
