"""Answers inside the editor: the server of the Language Server Protocol."""
