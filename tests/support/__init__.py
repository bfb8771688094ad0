"""What several test files use: case tables, listings, a fake GPU, random programs, the places of files."""
