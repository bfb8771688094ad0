"""Answers of the command line and the schemas that the package publishes for them."""

import copy
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator, ValidationError

from warpbound.cli import main
from warpbound.report.document import schema


@dataclass(frozen=True)
class Published:
    """The schema of one command's answers."""

    command: str

    @property
    def schema(self) -> dict[str, Any]:
        return schema(self.command)

    def validate(self, document: object) -> None:
        """Raises ValidationError where a document is not as promised."""
        Draft202012Validator(self.schema).validate(document)

    def answered(self, *words: str) -> dict[str, Any]:
        """The document that the command line prints, checked against the schema."""
        done = CliRunner().invoke(main, [self.command, *words, "--format", "json"])
        assert done.stdout, done.output
        document: dict[str, Any] = msgspec.json.decode(done.stdout)
        self.validate(document)
        return document

    def example(self) -> dict[str, Any]:
        """The first example of the schema, to be changed at will: an answer and a refusal."""
        return copy.deepcopy(self.schema["examples"][0])  # type: ignore[no-any-return]

    def assert_refused(self, document: object) -> None:
        with pytest.raises(ValidationError):
            self.validate(document)

    def assert_needed(self, key: str, *above: str | int) -> None:
        """The example without a key is refused; `above` leads to what holds it."""
        document = self.example()
        del _at(document, above)[key]
        self.assert_refused(document)

    def assert_refuses(self, path: str, value: Any) -> None:
        """The example with another value in its first answer; `path` has dots."""
        document = self.example()
        *way, last = path.split(".")
        holder = _at(document, ("results", 0, *way))
        assert last in holder
        holder[last] = value
        self.assert_refused(document)


def _at(document: Any, way: tuple[str | int, ...]) -> Any:
    for step in way:
        document = document[int(step) if isinstance(document, list) else step]
    return document
