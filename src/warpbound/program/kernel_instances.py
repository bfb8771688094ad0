"""The kernels of a file, which of them have machine code, and the options that instantiate the others."""

import re
from collections.abc import Collection

from warpbound.errors import InputError
from warpbound.program.kernel_names import plain_name
from warpbound.program.kernel_signatures import Signature
from warpbound.quick_dataclasses import dataclass

_FEW = 4  # names in a note
_CODE = re.compile(rb"\.text\.([\w$]+)\0")


class NoInstance(InputError):
    """A file that compiles, but whose kernels are templates of which no instance is known.

    examples : an instance of each, with arguments that fit its parameters by kind.
    """

    def __init__(self, reason: str, hint: str, examples: tuple[str, ...]) -> None:
        super().__init__(reason, hint)
        self.examples = examples


@dataclass(frozen=True)
class Kernels:
    """The kernels that a file and its headers define.

    instances : name expressions of the instances that the host launches or that are spelled out, and of the kernels
    that only a launch keeps alive. deduced : templates that the host launches without template arguments.
    """

    signatures: tuple[Signature, ...]
    instances: tuple[str, ...]
    deduced: tuple[str, ...] = ()

    @property
    def local(self) -> tuple[str, ...]:
        """Kernels that only a use keeps alive: static ones, and those of unnamed namespaces."""
        own = (kernel.qualified for kernel in self.signatures if kernel.local and not kernel.template)
        return tuple(dict.fromkeys(own))

    @property
    def defaults(self) -> tuple[str, ...]:
        """The instances of templates whose parameters all have defaults, where nothing else instantiates them."""
        names = {name.partition("<")[0].strip() for name in self.instances} | set(self.deduced)
        return tuple(
            f"{kernel.qualified}<>" for kernel in self.signatures if kernel.defaulted and kernel.qualified not in names
        )

    def missing(self, compiled_names: Collection[str]) -> list[Signature]:
        """The kernel templates without an instance among the plain names `there`."""
        templates = (kernel for kernel in self.signatures if kernel.template and "<" not in kernel.name)
        by_name = {kernel.qualified: kernel for kernel in templates}
        return [kernel for name, kernel in by_name.items() if name not in compiled_names]

    def notes(self, compiled_names: Collection[str]) -> tuple[str, ...]:
        """Notes on kernels that nothing instantiates, with the options that would add them."""
        left_out = self.missing(compiled_names)
        if not left_out:
            return ()
        names = [kernel.qualified for kernel in left_out]
        words = names if len(names) <= _FEW else [*names[:_FEW], f"{len(names) - _FEW} more"]
        commands = " or ".join(option(kernel) for kernel in left_out[:2])
        return (
            f"kernel templates that nothing instantiates are left out: {', '.join(words)}",
            f"to analyze one of them: {commands}",
        )

    def none(self, name: str) -> InputError:
        """Why a file that compiles has no kernel."""
        templates = self.missing(())
        if not templates:
            return InputError(f"{name}: there is no __global__ function in it.", "Give a file with a kernel.")
        names = ", ".join(kernel.qualified for kernel in templates)
        reason = f"{name}: nothing instantiates its kernel templates ({names})."
        hint = f"Name an instance with its template arguments, like {option(templates[0])}."
        return NoInstance(reason, hint, tuple(example(kernel) for kernel in templates))


def option(kernel: Signature) -> str:
    """The option that instantiates a kernel template with arguments that fit its parameters by kind."""
    return f"--kernel '{example(kernel)}'"


def example(kernel: Signature) -> str:
    """An instance of a kernel template with arguments that fit its parameters by kind."""
    return f"{kernel.qualified}<{kernel.example or 'float'}>"


def with_code(cubin: bytes) -> set[str]:
    """The plain names of the functions of a cubin."""
    return {plain_name(name.decode()) for name in _CODE.findall(cubin)}
