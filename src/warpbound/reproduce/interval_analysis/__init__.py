"""."""
ITEMS: tuple[str, ...] = ()
