"""Random CUDA programs whose results g++ gives too, and damaged files."""
