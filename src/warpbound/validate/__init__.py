"""Measured launches as data, the predictions for them, and how far off these are."""
