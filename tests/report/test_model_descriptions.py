"""The papers' models in words: nothing of what a model says of itself is lost in a narrow window."""

import pytest
from rich.console import Console

from warpbound import models
from warpbound.report.model_descriptions import about, overview


def printed(renderable: object) -> str:
    console = Console(width=80)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


@pytest.mark.parametrize("name", models.MODELS)
def test_every_word_is_printed_within_the_window(name):
    text = getattr(models, name).__doc__
    found = printed(about(text))
    assert found.split() == text.split()
    assert max(map(len, found.splitlines())) <= 80
    assert {"Source", "Models", "Omits"} <= {line.split()[0] for line in found.splitlines() if line[:1].strip()}


def test_the_overview_names_all():
    assert printed(overview(models.MODELS)).split() == " ".join(f"{k} {v}" for k, v in models.MODELS.items()).split()
