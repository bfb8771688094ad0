"""The report's text and tables as Dash components; text is escaped, never interpreted as markup."""

from collections.abc import Iterable
from typing import Any

from dash import html

from warpbound.report.html.elements import Element

_PROPERTIES = {"tabindex": "tabIndex", "colspan": "colSpan"}  # attribute of HTML -> Dash's name


def components(elements: Iterable[Element | str]) -> list[Any]:
    """A Dash component for each element."""
    return [element if isinstance(element, str) else _component(element) for element in elements]


def _component(element: Element) -> Any:
    properties: dict[str, Any] = {_PROPERTIES.get(name, name): word for name, word in element.attributes.items()}
    if element.width is not None:
        properties["style"] = {"width": f"{element.width}%"}
    make = getattr(html, element.tag.capitalize())
    return make(components(element.children), className=element.classes, **properties)
