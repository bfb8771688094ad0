"""Answers where the source is written: the server of the Language Server Protocol."""
