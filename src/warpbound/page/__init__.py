"""The interactive page: a kernel, a GPU and sliders, and what follows from them."""
