"""Random programs: phases of plain C++ per thread, with exchanges between threads from phase to phase.

A program is a tree of pieces of text, so that one that fails can be made smaller. Its text for the device and its text
for the host have the phases in common; the host goes through them thread by thread.

Left out is what NVRTC 13.5's own code generator has wrong: phases that are functions of their own, which are given the
variables by reference (what lies in local memory at a uniform address then passes for uniform).
"""

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from support.random_programs.operations import FLOATS, SCALARS, WHOLE, operations
from support.random_programs.pieces import (
    DEEPEST,
    LEAF,
    MATTER,
    NUMBERS,
    OWN,
    TEAMS,
    TOGETHER,
    Piece,
    RandomProgram,
    Scope,
    Step,
)


@cache
def _operations(halves: str) -> dict[str, list[str]]:
    return operations(halves)


class Author:
    """Writes one program."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.matter = chance.choice(list(MATTER))
        self.halves = {"halves": "f16", "bfloats": "bf"}.get(self.matter, "")
        kinds = list(MATTER[self.matter]) + ([chance.choice((*WHOLE, *FLOATS))] if chance.random() < 0.5 else [])
        self.variables = tuple((f"v.x{i}", kind) for i, kind in enumerate([*kinds, "u32", "s32"]))
        self.count = 0
        self.functions: list[Piece] = []
        self.callable: list[tuple[str, str]] = []

    def new(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    # --- expressions ---

    def literal(self, kind: str) -> Piece:
        chance = self.chance
        if kind == "bool":
            return Piece(kind, chance.choice(("true", "false")))
        if kind in FLOATS:
            return Piece(kind, f"({kind}){chance.choice(NUMBERS)}")
        if kind in ("f16", "bf", "h2", "b2"):
            return Piece(kind, f"({kind}){chance.randrange(1 << (32 if kind[1] == '2' else 16)):#x}u")
        size = int(kind[1:])
        value = chance.choice((chance.randrange(1 << size), chance.randrange(40), (1 << size) - 1, 1 << (size - 1)))
        return Piece(kind, f"({kind}){value:#x}ull")

    def leaf(self, kind: str, scope: Scope) -> Piece:
        named = [name for name, of in scope.readable if of == kind]
        if named and self.chance.random() < 0.85:
            return Piece(kind, self.chance.choice(named))
        others = [(name, of) for name, of in scope.readable if of in WHOLE]
        if kind in WHOLE and others and self.chance.random() < 0.7:
            return Piece(kind, f"({kind}){self.chance.choice(others)[0]}")
        return self.literal(kind)

    def value(self, kind: str, scope: Scope, depth: int = 0) -> Piece:
        """An expression of a type."""
        if depth >= DEEPEST or self.chance.random() < LEAF * (depth > 0):
            return self.leaf(kind, scope)
        templates = _operations(self.halves)[kind]
        called = [text for of, text in self.callable if of == kind] if scope.memory else []
        arrays = [f"{name}[{{u32}} & {size - 1}]" for name, of, size in scope.arrays if of == kind]
        while True:
            template = self.chance.choice(templates)
            if (called or arrays) and self.chance.random() < 0.2:
                template = self.chance.choice(called + arrays)
            if scope.memory or not ("m." in template or "sh." in template):
                return self.filled(kind, template, scope, depth)

    def filled(self, kind: str, template: str, scope: Scope, depth: int) -> Piece:
        """A template with values in its places."""
        text, parts, rest = "", [], template
        while "{" in rest:
            before, _, rest = rest.partition("{")
            what, _, rest = rest.partition("}")
            if what.startswith("#"):
                text += before + str(self.chance.randint(0, int(what[1:])))
            else:
                text += before + "{}"
                parts.append(self.value(what, scope, depth + 1))
        return Piece(kind, text + rest, tuple(parts))

    # --- statements ---

    def block(self, scope: Scope, size: int, depth: int) -> Piece:
        inner = replace(scope, readable=list(scope.readable), arrays=list(scope.arrays))
        return Piece("block", "", tuple(self.statement(inner, depth) for _ in range(size)))

    def statement(self, scope: Scope, depth: int) -> Piece:
        chance = self.chance
        kinds = [self.assignment] * 6
        if depth < 3:
            kinds += [self.branch, self.branch, self.loop, self.loop, self.cases]
            kinds += [self.local_array] if depth < 2 else []
        if scope.memory:
            kinds += [self.stored, self.atomic, self.own_atomic, self.vector, self.walk]
        if scope.loops:
            kinds.append(self.leaving)
        elif depth:
            kinds += [self.early_end] if chance.random() < 0.3 and scope.memory else []
        return chance.choice(kinds)(scope, depth)

    def assignment(self, scope: Scope, depth: int) -> Piece:
        name, kind = self.chance.choice(scope.assignable)
        if scope.arrays and self.chance.random() < 0.4:
            name, kind, size = self.chance.choice(scope.arrays)
            at, value = self.value("u32", scope, 1), self.value(kind, scope, 1)
            return Piece("", f"{name}[{{}} & {size - 1}] = {{}};", (at, value))
        if kind in WHOLE and self.chance.random() < 0.4:
            return Piece("", f"{name} = ({kind})({name} ^ {{}});", (self.value(kind, scope),))
        return Piece("", f"{name} = {{}};", (self.value(kind, scope),))

    def branch(self, scope: Scope, depth: int) -> Piece:
        parts = [self.value("bool", scope, 1), self.block(scope, self.chance.randint(1, 3), depth + 1)]
        if self.chance.random() < 0.5:
            return Piece("", "if ({}) {}", tuple(parts))
        return Piece("", "if ({}) {} else {}", (*parts, self.block(scope, self.chance.randint(1, 2), depth + 1)))

    def loop(self, scope: Scope, depth: int) -> Piece:
        name, most = self.new("i"), (7, 3, 1)[min(scope.loops, 2)]
        inner = replace(scope, readable=[*scope.readable, (name, "u32")], loops=scope.loops + 1)
        inner.arrays = list(scope.arrays)
        body = self.block(inner, self.chance.randint(1, 3), depth + 1)
        bound = self.value("u32", scope, 1)
        which = self.chance.randrange(4)
        if which == 0:
            return Piece("", f"for (u32 {name} = 0; {name} < ({{}} & {most}); {name}++) {{}}", (bound, body))
        if which == 1:
            text = f"{{{{ u32 {name} = {{}} & {most}; while ({name}-- > 0 && {{}}) {{}} }}}}"
            return Piece("", _plain(text), (bound, self.value("bool", inner, 1), body))
        if which == 2:
            text = f"{{{{ u32 {name} = 0; do {{}} while (++{name} < {most + 1} && {{}}); }}}}"
            return Piece("", _plain(text), (body, self.value("bool", inner, 1)))
        return Piece("", f"for (u32 {name} = 0; {name} < {self.chance.randint(1, most + 1)}; {name}++) {{}}", (body,))

    def cases(self, scope: Scope, depth: int) -> Piece:
        count = self.chance.choice((2, 3, 5, 8, 14))
        inner = replace(scope, loops=0)
        labels = self.chance.sample(range(count + count // 3), count)
        text, parts = "switch ({} % " + f"{count + 1 + count // 3}u) ", [self.value("u32", scope, 1)]
        bodies = []
        for label in labels:
            end = " break;" if self.chance.random() < 0.8 else ""
            bodies.append(f"case {label}: {{}}{end}")
            parts.append(self.block(inner, 1, depth + 2))
        if self.chance.random() < 0.5:
            bodies.append("default: {}")
            parts.append(self.block(inner, 1, depth + 2))
        return Piece("", text + "{ " + " ".join(bodies) + " }", tuple(parts))

    def local_array(self, scope: Scope, depth: int) -> Piece:
        """An array in scope for what comes after it in the block."""
        name, kind = self.new("a"), self.chance.choice(("u32", "u8", "s16", "u64", "f32", "u16"))
        size = 2 ** self.chance.randint(2, 4)
        parts = [self.value(kind, scope, 2) for _ in range(4)]
        scope.arrays.append((name, kind, size))
        parts += [self.value("u32", scope, 1), self.value(kind, scope, 1)]
        text = f"{kind} {name}[{size}] = {{ {{}}, {{}}, {{}}, {{}} }}; {name}[{{}} & {size - 1}] = {{}};"
        return Piece("", text, tuple(parts))

    def stored(self, scope: Scope, depth: int) -> Piece:
        size, by_thread = self.chance.choice(((8, True), (16, False), (32, True), (64, False)))
        place = "m.thread * 16 + ({} & 15)" if by_thread else "m.thread + m.threads * ({} & 15)"
        value = self.value(f"u{size}", scope, 1)
        return Piece("", f"m.mine{size}[{place}] = {{}};", (self.value("u32", scope, 1), value))

    def atomic(self, scope: Scope, depth: int) -> Piece:
        """Atomics whose order does not matter; each array has its own operation."""
        name = self.chance.choice(("Add", "Min", "Max", "And", "Or", "Xor", "times", "counted"))
        kind = self.chance.choice(("u32", "u64", "s32"))
        where, value = self.value("u32", scope, 1), self.value(kind, scope, 1)
        place = f"m.{name}_{kind} + ({{}} & 7)"
        if name == "times":
            return Piece("", f"multiply_at((u{kind[1:]}*){place}, {{}});", (where, value))
        if name == "counted":
            text = "{ u32 k = {} & 7, before = atomicAdd(m.counted_u32 + k, 3u); "
            return Piece("", text + "atomicAdd(m.counted_u64 + k, (u64)before * before); }", (where,))
        shared = "sh.Add" if name == "Add" and kind == "u32" and self.chance.random() < 0.5 else ""
        return Piece("", f"atomic{name}({shared + ' + ({} & 7)' if shared else place}, {{}});", (where, value))

    def own_atomic(self, scope: Scope, depth: int) -> Piece:
        """One on a place of the thread's own, whose answer is used."""
        name, kind = self.chance.choice([one for one in scope.assignable if one[1] in (*WHOLE, *FLOATS)])
        of, shared, here = self.chance.choice(OWN)
        asked = self.chance.choice(("Add", "Exch", "Min", "Max", "And", "Or", "Xor", "Inc", "Dec", "Sub", "CAS"))
        if asked in ("Inc", "Dec", "Sub") and of != "u32":
            asked = "CAS"
        of = "s32" if of == "u32" and asked in ("Min", "Max") and self.chance.random() < 0.5 else of
        place = f"({{}} ? {shared} : {here})" if self.chance.random() < 0.2 else self.chance.choice((shared, here))
        parts = [self.value("bool", scope, 1)] if "?" in place else []
        parts += [self.value("u32", scope, 1)] if "({} & 15)" in place else []
        parts += [self.value(of, scope, 1) for _ in range(1 + (asked == "CAS"))]
        text = f"{name} = ({kind})atomic{asked}(({of}*){place}{', {}' * (1 + (asked == 'CAS'))});"
        return Piece("", text, tuple(parts))

    def walk(self, scope: Scope, depth: int) -> Piece:
        """A function that is given a pointer: to a local array, to shared memory, or to global memory."""
        name, kind = self.variables[-2]
        parts = [self.value("u32", scope, 1) for _ in range(3)] + [self.value("bool", scope, 1)]
        parts += [self.value("u32", scope, 1) for _ in range(3)]
        there = self.chance.choice(("m.mine32 + 16 * m.thread", "sh.own + 8 * tid"))
        text = "{ u32 box[8] = { {}, {}, 7, {} }; " + f"{name} = walked({{}} ? box : {there}, {{}}, {{}}); "
        return Piece("", text + f"{name} += box[{{}} & 7]; }}", tuple(parts))

    def vector(self, scope: Scope, depth: int) -> Piece:
        name, kind = self.chance.choice([one for one in scope.assignable if one[1] in (*WHOLE, *FLOATS)])
        vector, array, last, result = self.chance.choice((
            ("uint4", "words", 255, "((q.x ^ q.w) + q.y * (q.z & 7))"),
            ("ushort4", "halves", 63, "(q.x + q.y - (u32)q.z * q.w & 127)"),
            ("char4", "bytes", 255, "(u32)(q.x * q.y + q.z - q.w & 127)"),
            ("float2", "floats", 127, "within(q.x + q.y)"), ("double2", "doubles", 127, "within(q.x * q.y)"),
            ("", "", 3, f"make_uint4((u32)m.thread, 7u, {name} == 3, ~0u)"),
        ))  # fmt: skip
        text = f"((uint4*)m.mine32)[4 * m.thread + ({{}} & 3)] = {result};"
        if vector:
            text = f"{{ {vector} q = ((const {vector}*)m.{array})[{{}} & {last}]; {name} = ({kind}){result}; }}"
        return Piece("", text, (self.value("u32", scope, 1),))

    def leaving(self, scope: Scope, depth: int) -> Piece:
        return Piece("", f"if ({{}}) {self.chance.choice(('break', 'continue'))};", (self.value("bool", scope, 1),))

    def early_end(self, scope: Scope, depth: int) -> Piece:
        return Piece("", "if ({}) return;", (self.value("bool", scope, 1),))

    # --- functions and steps ---

    def function(self) -> None:
        """One that is not inlined; it may call itself, or be one of two that are called by address."""
        chance, name = self.chance, self.new("fn")
        kinds = ("u32", "u32", chance.choice((*WHOLE, *FLOATS)))
        result = chance.choice(("u32", "s64", "f32", "u32"))
        arguments = [("n", "u32"), ("b", kinds[1]), ("c", kinds[2])]
        scope = Scope(arguments, [("b", "u32"), ("c", kinds[2])], memory=False)
        body = self.block(scope, chance.randint(1, 3), 1)
        head = f"APART {result} {name}(" + ", ".join(f"{kind} {one}" for one, kind in arguments) + ") "
        if chance.random() < 0.4:
            head += "{ if (n == 0) return {}; {} return {} == ({})"
            head += f"{name}(n - 1, {{}}, c) ? {{}} : ({result}){name}(n / 2, b, {{}}); }}"
            simple = [self.value(result, scope, 1), body, self.value(result, scope, 1), Piece("type", result)]
            simple += [self.value("u32", scope, 1), self.value(result, scope, 1), self.value(kinds[2], scope, 1)]
            self.functions.append(Piece("", head, tuple(simple)))
            first = "({u32} & 3)"
        else:
            self.functions.append(Piece("", head + "{ {} return {}; }", (body, self.value(result, scope))))
            first = "{u32}"
        self.callable.append((result, f"{name}({first}, {{u32}}, {{{kinds[2]}}})"))

    def by_address(self) -> None:
        names = [self.new("fn") for _ in range(3)]
        scope = Scope([("n", "u32"), ("b", "s32")], [("b", "s32")], memory=False)
        for name in names:
            body = self.block(scope, 1, 2)
            text = f"APART s32 {name}(u32 n, s32 b) {{ {{}} return {{}}; }}"
            self.functions.append(Piece("", text, (body, self.value("s32", scope, 1))))
        choose = self.new("choose")
        text = f"FN s32 {choose}(u32 k, u32 n, s32 b) {{ s32 (*all[3])(u32, s32) = {{ {', '.join(names)} }}; "
        text += "return all[k % 3](n, b); }"
        self.functions.append(Piece("", text))
        self.callable.append(("s32", f"{choose}({{u32}}, {{u32}}, {{s32}})"))

    def steps(self, threads: int) -> Iterator[Step]:
        common = [(f"m.{name}", kind) for name, kind in (*SCALARS.items(), ("group", "u32"))]
        scope = Scope([*self.variables, ("tid", "u32"), *common], list(self.variables), memory=True)
        for _ in range(self.chance.randint(1, 3)):
            yield Step(self.block(scope, self.chance.randint(2, 6), 0))
            for _ in range(self.chance.randint(0, 3)):
                yield from self.exchange(scope, threads)
        yield Step(self.block(scope, self.chance.randint(1, 3), 0))

    def exchange(self, scope: Scope, threads: int) -> Iterator[Step]:
        name, kind = self.chance.choice(scope.assignable)
        if kind not in (*WHOLE, *FLOATS):
            name, kind = self.variables[-2]
        if self.chance.random() < 0.1:
            yield Step(Piece("", f"{self.variables[-2][0]}|?|{{}}", (self.value("bool", scope),)), TOGETHER)
            return
        if threads % 32 or self.chance.random() < 0.4:
            at = f"(tid + {self.chance.randrange(threads)}) % {threads}u"
            yield Step(Piece("", f"sh.{kind}s[{at}] = {{}};", (self.value(kind, scope, 1),)))
            there = self.value("u32", scope, 1)
            yield Step(Piece("", f"{name} = sh.{kind}s[{{}} % {threads}u];", (there,)))
            return
        yield self.question(scope, name, kind)

    def question(self, scope: Scope, name: str, kind: str) -> Step:
        chance, word = self.chance, self.variables[-2][0]
        width, number = 32, "({} & 31)"
        few = (chance.randrange(1, 2**32), 0xFFFF, 1 << 31, self.value("bool", scope, 1))
        lanes = 0xFFFFFFFF if chance.random() < 0.5 else chance.choice(few)
        whole = lanes == 0xFFFFFFFF
        if whole and kind in ("u32", "s32", "u64", "s64", *FLOATS) and chance.random() < 0.3:
            asked = chance.choice(TEAMS[kind[0] == "f" or kind != "u32"])
            parts = [self.value(kind, scope, 1), self.value("u32", scope, 1)]
            value = "within({})" if kind[0] == "f" else "{}"
            return Step(Piece("", f"{name}|?|{value}|?|{number}|?|{kind}", tuple(parts)), asked)
        if kind in ("u32", "s32", "u64", "s64", *FLOATS) and chance.random() < 0.5:
            asked = chance.choice(("sent", "sent_up", "sent_down", "sent_across")) if whole else "sent_within"
            if whole:
                width = chance.choice((32, 32, 16, 8, 4))
                own = asked == "sent" or chance.random() < 0.5
                number = f"({{}} & {width - 1})" if own else str(chance.randrange(width))
        elif kind in ("u32", "s32") and chance.random() < 0.6:
            asked = chance.choice(("summed", "smallest", "largest", "alike", "all_alike"))
            name, kind = (word, "u32") if "alike" in asked or kind == "u32" else (name, kind)
        else:
            asked, kind, name = chance.choice(("ballot", "folded", "any_all", "alike")), "u32", word
        if asked == "any_all":
            number = str(chance.randrange(4))
        parts = [self.value(kind, scope, 1)]
        if "alike" in asked or asked == "any_all":
            parts = [Piece(kind, f"({kind})({{}} & 3)", tuple(parts))]
        parts += [self.value("u32", scope, 1)] if "{}" in number else []
        return Step(Piece("", f"{name}|?|{{}}|?|{number}|?|{kind}", tuple(parts)), asked, lanes, width)




def _plain(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}") if "{{" in text else text


def written(seed: int) -> RandomProgram:
    """The program of a seed."""
    chance = random.Random(seed)
    author = Author(chance)
    for _ in range(chance.choice((0, 0, 1, 2))):
        author.function()
    if chance.random() < 0.15:
        author.by_address()
    threads = chance.choice((32, 64, 64, 96, 45))
    steps = tuple(author.steps(threads))
    blocks = chance.choice((1, 2, 3))
    alike = chance.random() < 0.3
    return RandomProgram(author.variables, tuple(author.functions), steps, author.halves, threads, blocks, alike)
