"""Answers for code-writing agents: short records, a next step with its gain, a server (Model Context Protocol)."""
