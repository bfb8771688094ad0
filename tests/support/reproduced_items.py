"""Reproduced items by name, and the command that prints them."""

from click.testing import CliRunner, Result

from warpbound.cli import main
from warpbound.reproduce import Item, items


def item_called(key: str) -> Item:
    return next(item for item in items() if item.key == key)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["reproduce", *words])
