"""The papers' equations written a second time, from their text, in plain Python: for comparison with the models."""
