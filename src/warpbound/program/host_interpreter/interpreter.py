"""Calls of host code: kernel launches are recorded, functions with source executed, other calls stay expressions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from warpbound.program.host_interpreter.expressions import evaluate, expanded, place, type_of
from warpbound.program.host_interpreter.interpretation import Interpretation, Observation, Site, callee, is_launch
from warpbound.program.host_interpreter.launch_calls import LAUNCH_FORMS, launched_by_syntax
from warpbound.program.host_interpreter.runtime_calls import MATH, RULES, written_by_unknown
from warpbound.program.host_interpreter.source_model import FunctionSource, SourceModel
from warpbound.program.host_interpreter.state import Frame, OutOfBudget, ProgramEnds
from warpbound.program.host_interpreter.statements import declaration, execute
from warpbound.program.host_interpreter.syntax import declarator_of, descendants, line_of, plain_type, text_of
from warpbound.program.host_interpreter.values import (
    Cell,
    Closure,
    DeviceArray,
    Function,
    HostArray,
    Pointer,
    Struct,
    Unknown,
    cast,
    combined,
    converted,
    dim3,
    is_number,
    remaining,
    shown,
)

_DEEPEST = 24  # functions within each other
_MOST_CALLS = 200  # limit of calls of a function that launches nothing
_CASTS = ("static_cast", "reinterpret_cast", "const_cast", "dynamic_cast")
_SEQUENCES = ("vector<", "host_vector<", "device_vector<", "array<")


class Interpreter(Interpretation):
    """Executes host code on known values and on expressions."""

    def __init__(self, model: SourceModel, words: Sequence[str], device: Mapping[str, int]) -> None:
        super().__init__(model, words, device)
        self.origins: list[Any] = []  # macro calls that are expanded, outermost first
        for node in model.enums:
            self.enumerate(node)
        for node in model.globals:
            with suppress(OutOfBudget, RecursionError):  # such a variable has no known value
                declaration(self, node)

    # --- what expressions and statements ask for ---

    def execute(self, node: Any) -> str:
        return execute(self, node)

    def value_of(self, node: Any) -> Any:
        return evaluate(self, node)

    def place_of(self, node: Any) -> Cell | None:
        return place(self, node)

    def line_of(self, node: Any) -> int:
        return line_of(self.origins[0] if self.origins else node)

    def enumerate(self, node: Any) -> None:
        value: Any = -1
        for child in (node.child_by_field_name("body") or node).named_children:
            if child.type == "enumerator":
                constant = child.child_by_field_name("value")
                value = evaluate(self, constant) if constant is not None else combined("+", value, 1)
                self.frames[0].scopes[0][text_of(child.child_by_field_name("name"))] = Cell(value, "int")

    def initial(self, node: Any, kind: str) -> Any:
        if node.type == "argument_list":
            return self.constructed(kind, [evaluate(self, child) for child in _listed(node)])
        if node.type != "initializer_list":
            value = evaluate(self, node)
            return cast(value, self.resolved(kind)) if kind and kind != "auto" else value
        values = [self.initial(child, "") for child in _listed(node) if child.type != "initializer_pair"]
        resolved = self.resolved(kind)
        if resolved == "dim3":
            return dim3(*values[:3])
        blank = self.blank(resolved) if resolved else Unknown()
        if isinstance(blank, Struct):
            return self._filled(blank, node, values)
        if resolved and resolved != "auto" and self.size_of(resolved) is None:
            return Struct(resolved, {})  # a type that is not at hand
        if resolved and resolved != "auto":
            return converted(values[0], resolved) if values else 0
        return HostArray("", len(values), {i: Cell(value) for i, value in enumerate(values)})

    def _filled(self, blank: Struct, node: Any, values: Sequence[Any]) -> Struct:
        for cell, value in zip(blank.fields.values(), values, strict=False):
            cell.value = converted(value, self.resolved(cell.type))
        for pair in (child for child in node.named_children if child.type == "initializer_pair"):
            name = text_of(pair.child_by_field_name("designator")).lstrip(".")
            if name in blank.fields:
                blank.fields[name].value = self.initial(pair.child_by_field_name("value"), blank.fields[name].type)
        return blank

    def constructed(self, kind: str, arguments: list[Any]) -> Any:
        kind = self.resolved(kind)
        if kind == "dim3":
            return self.copied(arguments[0]) if arguments and isinstance(arguments[0], Struct) else dim3(*arguments[:3])
        sequence = next((word for word in _SEQUENCES if word in kind), None)
        if sequence and not kind.endswith(("*", "&")):
            return self._sequence(kind, sequence, arguments)
        blank = self.blank(kind)
        if isinstance(blank, Struct) and not (arguments and isinstance(arguments[0], Struct)):
            for source in self.model.functions.get(kind.rpartition("::")[2], ()):
                if source.owner == source.name and len(_listed(source.parameters)) == len(arguments):
                    self.run_function(source, (), list(arguments), blank)
                    return blank
            for cell, value in zip(blank.fields.values(), arguments, strict=False):
                cell.value = converted(value, self.resolved(cell.type))
            return blank
        return cast(arguments[0], kind) if arguments else blank

    def _sequence(self, kind: str, sequence: str, arguments: list[Any]) -> Any:
        element = kind.partition(sequence)[2].rstrip("> ").partition(",")[0]
        count = (
            arguments[0] if arguments and (is_number(arguments[0]) or isinstance(arguments[0], Unknown)) else Unknown()
        )
        size = self.size_of(element)
        if sequence == "device_vector<":
            return Pointer(DeviceArray(combined("*", count, size or Unknown()), element), 0, element)
        return HostArray(element, count)

    def heap(self, node: Any) -> Any:
        kind = self.resolved(plain_type(text_of(node.child_by_field_name("type"))))
        declarator = node.child_by_field_name("declarator")
        if declarator is not None:
            extent = declarator.child_by_field_name("length")
            count = evaluate(self, extent) if extent is not None else Unknown()
            return Pointer(HostArray(kind, count, bytes=combined("*", count, self.size_of(kind) or Unknown())), 0, kind)
        arguments = node.child_by_field_name("arguments")
        values = [evaluate(self, child) for child in _listed(arguments)] if arguments is not None else []
        return Pointer(Cell(self.constructed(kind, values), kind), 0, kind)

    def template_words(self, arguments: Any) -> Iterator[str]:
        for child in _listed(arguments) if arguments is not None else ():
            if child.type == "type_descriptor":
                word = text_of(child)
                cell = self.find(word)
                macro = self.model.macros.get(word)
                if cell is not None and is_number(cell.value):
                    yield shown(cell.value)
                elif macro is not None and macro.parameters is None:
                    value = expanded(self, word, macro.body)
                    yield shown(value) if is_number(value) else macro.body
                elif cell is None and any(word in frame.types for frame in self.frames):
                    yield type_of(self, child)
                else:
                    yield word
            else:
                value = evaluate(self, child)
                yield shown(value) if is_number(value) else text_of(child)

    # --- calls ---

    def call(self, node: Any) -> Any:
        self.spend()
        if is_launch(node):
            return self._launch(node)
        function, nodes = node.child_by_field_name("function"), _listed(node.child_by_field_name("arguments"))
        name = text_of(function).partition("<")[0] if function is not None else ""
        if function is not None and function.type == "field_expression":
            return self._method(function, nodes)
        macro = self.model.macros.get(name)
        if macro is not None and macro.parameters is not None:
            return self._expand(node, name, macro.parameters, macro.body, [text_of(child) for child in nodes])
        plain = name.rpartition("::")[2]
        variable = self.find(name)
        if plain in RULES and variable is None and not self._is_own(plain):
            return RULES[plain](self, nodes, [evaluate(self, child) for child in nodes])
        if plain == "raw_pointer_cast" and nodes:
            return evaluate(self, nodes[0])
        if plain in _CASTS and nodes:
            kinds = next(descendants(function, frozenset({"type_descriptor"})), None)
            return cast(evaluate(self, nodes[0]), type_of(self, kinds)) if kinds is not None else Unknown()
        if variable is not None and isinstance(variable.value, Closure):
            return self._closure(variable.value, nodes)
        target = variable.value if variable is not None else evaluate(self, function)
        if isinstance(target, Function) and (source := self._overload(target.name, len(nodes))):
            return self.run_function(source, target.template, self._arguments(source, nodes), self.frame.this)
        return self._unresolved(name, nodes)

    def _is_own(self, name: str) -> bool:
        """Whether the program defines a function with the name of one whose effect is known, as it may for `stoi`."""
        return (
            name not in MATH
            and not name.startswith(("cuda", "get", "check", "find", "gpu"))
            and any(source.body is not None for source in self.model.functions.get(name, ()))
        )

    def _unresolved(self, name: str, nodes: Sequence[Any]) -> Any:
        values = [evaluate(self, child) for child in nodes]
        kind = self.resolved(plain_type(name))
        if self.size_of(kind) is not None or kind in self.model.classes:
            return self.constructed(kind, values)
        self._handed_over(values)
        return written_by_unknown(self, name, nodes, values)

    def _handed_over(self, values: Sequence[Any]) -> None:
        """Lambdas passed to a function without source, as by PyTorch's dispatch macros, are called once."""
        for value in values:
            if isinstance(value, Closure) and "__device__" not in text_of(value.node).partition("{")[0]:
                self._closure(value, ())

    def _overload(self, name: str, count: int) -> FunctionSource | None:
        overloads = self.model.functions.get(name, ())
        sources = [each for each in overloads if each.body is not None and not each.is_kernel]
        fitting = [source for source in sources if len(_listed(source.parameters)) == count]
        return fitting[0] if fitting else sources[0] if len(sources) == 1 else None

    def _arguments(self, source: FunctionSource, nodes: Sequence[Any]) -> list[Any]:
        """Values of arguments; those of reference parameters as their variables."""
        result: list[Any] = []
        for parameter, child in zip(_listed(source.parameters), nodes, strict=False):
            declarator = parameter.child_by_field_name("declarator")
            cell = place(self, child) if declarator is not None and declarator_of(declarator).reference else None
            result.append(cell if cell is not None else evaluate(self, child))
        return result

    def run_function(
        self, source: FunctionSource, template: Sequence[str], arguments: Sequence[Any], this: Struct | None = None
    ) -> Any:
        """The result of a function with these arguments; a Cell among them is passed by reference."""
        unknown = remaining(f"{source.name}({', '.join(shown(_plain(value)) for value in arguments)})")
        if len(self.frames) > _DEEPEST or sum(frame.function == source.name for frame in self.frames) > 2:
            return unknown
        self.passes[source.node.id] = self.passes.get(source.node.id, 0) + 1
        if self.passes[source.node.id] > _MOST_CALLS and not self.launches_in(source.name):
            return unknown
        frame = Frame(source.name, this=this)
        self._bind_template(frame, source, template)
        self.frames.append(frame)
        try:
            self._bind(source, arguments)
            self._member_initializers(source)
            execute(self, source.body)
        finally:
            self.frames.pop()
        results = [*frame.maybe, frame.result]
        if isinstance(frame.result, Unknown) and not frame.result.text:
            return unknown
        return frame.result if all(value is frame.result or value == frame.result for value in results) else unknown

    def _bind_template(self, frame: Frame, source: FunctionSource, template: Sequence[str]) -> None:
        for (name, is_type), word in zip(source.template, template, strict=False):
            if is_type:
                frame.types[name] = self.resolved(plain_type(word))
            else:
                value = evaluate_text(self, word)
                frame.scopes[0][name] = Cell(value, "int", name)

    def _bind(self, source: FunctionSource, arguments: Sequence[Any]) -> None:
        for i, parameter in enumerate(_listed(source.parameters)):
            declarator, kind = parameter.child_by_field_name("declarator"), parameter.child_by_field_name("type")
            if declarator is None or kind is None:
                continue
            parts = declarator_of(declarator)
            full = self.resolved(plain_type(text_of(kind)) + "*" * (parts.stars + len(parts.extents)))
            default = parameter.child_by_field_name("default_value")
            if i < len(arguments) and isinstance(arguments[i], Cell):
                self.frame.scopes[0][parts.name] = arguments[i]
            elif i < len(arguments):
                self.declare(parts.name, self.copied(cast(arguments[i], full)), full)
            elif default is not None:
                self.declare(parts.name, self.initial(default, full), full)
            else:
                blank = self.blank(full, parts.name)
                value = blank if isinstance(blank, Struct) and full != "dim3" else Unknown(parts.name)
                self.declare(parts.name, value, full)

    def _member_initializers(self, source: FunctionSource) -> None:
        for child in source.node.children:
            if child.type == "field_initializer_list" and self.frame.this is not None:
                for each in child.named_children:
                    name = text_of(each.named_children[0]) if each.named_children else ""
                    cell = self.frame.this.fields.get(name)
                    if cell is not None and len(each.named_children) > 1:
                        self.write(cell, self.initial(each.named_children[1], cell.type))

    def _closure(self, closure: Closure, nodes: Sequence[Any]) -> Any:
        if len(self.frames) > _DEEPEST:
            return Unknown()
        values = [evaluate(self, child) for child in nodes]
        frame = Frame("lambda", [*closure.scopes, {}], dict(self.frame.types), self.frame.this)
        declarator = closure.node.child_by_field_name("declarator")
        parameters = declarator.child_by_field_name("parameters") if declarator is not None else None
        self.frames.append(frame)
        try:
            for parameter, value in zip(_listed(parameters) if parameters is not None else (), values, strict=False):
                name = declarator_of(parameter.child_by_field_name("declarator")).name
                self.declare(name, self.copied(value), plain_type(text_of(parameter.child_by_field_name("type"))))
            execute(self, closure.node.child_by_field_name("body"))
        finally:
            self.frames.pop()
        return frame.result

    def _method(self, function: Any, nodes: Sequence[Any]) -> Any:
        owner = evaluate(self, function.child_by_field_name("argument"))
        name = text_of(function.child_by_field_name("field")).partition("<")[0]
        if isinstance(owner, Pointer) and isinstance(owner.target, Cell):
            owner = owner.target.value
        if isinstance(owner, Struct):
            kind = owner.type.rpartition("::")[2]
            for source in self.model.functions.get(name, ()):
                if source.owner == kind and source.body is not None and len(_listed(source.parameters)) >= len(nodes):
                    return self.run_function(source, (), self._arguments(source, nodes), owner)
        values = [evaluate(self, child) for child in nodes]
        self._handed_over(values)
        if isinstance(owner, HostArray | Pointer) and name in ("size", "data", "begin", "resize", "reserve", "get"):
            return self._of_sequence(owner, name, values)
        text = (
            f"{text_of(function.child_by_field_name('argument'))}.{name}({', '.join(text_of(node) for node in nodes)})"
        )
        return remaining(text)

    def _of_sequence(self, owner: Any, name: str, values: Sequence[Any]) -> Any:
        array = owner.target if isinstance(owner, Pointer) else owner
        if name == "resize" and values and isinstance(array, HostArray):
            array.count = values[0]
        if name == "size":
            return array.count if isinstance(array, HostArray) else Unknown()
        return owner if isinstance(owner, Pointer) else Pointer(owner, 0, owner.type)

    def _expand(self, node: Any, name: str, parameters: Sequence[str], body: str, words: Sequence[str]) -> Any:
        """The value of a function-like macro; launches in it are those of the line of its outermost call."""
        texts = dict(zip(parameters, words, strict=False))
        if "..." in parameters:
            texts["__VA_ARGS__"] = ", ".join(words[len(parameters) - 1 :])
        self.origins.append(node)
        try:
            return expanded(self, name, substituted(body, texts))
        finally:
            self.origins.pop()

    # --- launches ---

    def _launch(self, node: Any) -> Any:
        name = callee(node)
        parts = LAUNCH_FORMS[name](self, node) if name in LAUNCH_FORMS else launched_by_syntax(self, node)
        if parts is None:
            return 0
        texts, observation = parts
        origin = self.origins[0] if self.origins else node
        site = Site(
            key=(node.id, origin.id if self.origins else 0),
            file=self.model.file_of(origin),
            line=line_of(origin),
            function=self.frame.function,
            form=name if name in LAUNCH_FORMS else "<<<>>>",
            **texts,
        )
        self.launches.setdefault(site, []).append(observation)
        return 0

    def observed(self, kernel: Any, sizes: Sequence[Any], arguments: Sequence[Any]) -> Observation:
        grid, block, smem = (self.copied(value) for value in sizes)
        return Observation(
            kernel, grid, block, smem, tuple(self.copied(value) for value in arguments), not self.is_exploring
        )


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Cell) else value


def _listed(node: Any) -> list[Any]:
    return [child for child in node.named_children if child.type != "comment"] if node is not None else []


def substituted(body: str, texts: dict[str, str]) -> str:
    """A macro's body with its parameters replaced."""
    import re

    if not texts:
        return body
    names = "|".join(re.escape(name) for name in texts if name)
    replaced = re.sub(rf"(?<!#)#\s*({names})\b", lambda match: f'"{texts[match[1]]}"', body)
    replaced = re.sub(rf"\b({names})\b", lambda match: texts[match[1]], replaced)
    return re.sub(r"\s*##\s*", "", replaced)


def evaluate_text(host: Interpreter, text: str) -> Any:
    """The value of an expression given as text."""
    from warpbound.program.host_interpreter.syntax import parsed_expression

    node = parsed_expression(text)
    return Unknown(text) if node is None else evaluate(host, node)


__all__ = ["Interpreter", "ProgramEnds"]
