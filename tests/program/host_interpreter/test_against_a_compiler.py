"""Arithmetic and struct layouts of the interpreter are those of the host's C++ compiler."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from warpbound.program.host_interpreter import interpreted
from warpbound.program.host_launches import Assumed, host_launches

COMPILER = shutil.which("g++") or shutil.which("clang++")
pytestmark = [pytest.mark.cuda, pytest.mark.skipif(COMPILER is None, reason="no host compiler")]

EXPRESSIONS, STRUCTS = 150, 60
VARIABLES = {"int": ["a", "b"], "unsigned": ["u"], "long long": ["l"], "float": ["f"], "short": ["s"]}
OPERATIONS = ["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "<", "<=", "==", "!=", "&&", "||"]
TYPES = ["char", "short", "int", "float", "double", "long long", "unsigned char", "float *", "bool", "size_t"]


def run(program: str, folder: Path) -> list[str]:
    source, binary = folder / "x.cpp", folder / "x"
    source.write_text(program)
    subprocess.run([str(COMPILER), "-w", "-O0", "-o", str(binary), str(source)], check=True)
    return subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout.split("\n")


def expression(random_: random.Random, depth: int) -> str:
    """Integers only, without what C leaves undefined: small operands, divisors that are not 0, shifts below 8."""
    if depth == 0 or random_.random() < 0.2:
        return random_.choice(
            ["a", "b", "s", str(random_.randrange(1, 40)), hex(random_.randrange(90)), "(int)f", "'A'"]
        )
    operation = random_.choice(OPERATIONS)
    left, right = expression(random_, depth - 1), expression(random_, depth - 1)
    if operation in "/%":
        return f"({left} {operation} ({right} ? {right} : 3))"
    if operation in ("<<", ">>"):
        return f"(({left} & 63) {operation} ({right} & 7))"
    if random_.random() < 0.15:
        return f"({left} < {right} ? -{left} : ~{right})"
    return f"({left} {operation} {right})" if operation != "*" else f"(({left} & 63) * ({right} & 63))"


def test_integer_arithmetic(tmp_path: Path) -> None:
    random_ = random.Random(5)
    texts = [expression(random_, 4) for _ in range(EXPRESSIONS)]
    first = "int a = 37, b = -11; short s = 300; float f = 6.75f;"
    stores = " ".join(f"long long v{i} = {text};" for i, text in enumerate(texts))
    prints = " ".join(f'printf("%lld\\n", v{i});' for i in range(EXPRESSIONS))
    expected = run(f"#include <cstdio>\nint main() {{ {first} {stores} {prints} }}", tmp_path)[:EXPRESSIONS]
    parameters = ", ".join(f"long long p{i}" for i in range(EXPRESSIONS))
    arguments = ", ".join(f"v{i}" for i in range(EXPRESSIONS))
    kernel = f"__global__ void k({parameters}) {{}}"
    (launch,) = host_launches(
        f"{kernel} int main() {{ {first} {stores} k<<<1, 1>>>({arguments}); }}", "", Assumed()
    ).launches
    got = [argument.value for argument in launch.arguments]
    wrong = [(a, b, c) for a, b, c in zip(texts, got, map(int, expected), strict=True) if b != c]
    assert not wrong, min(wrong, key=lambda each: len(each[0]))


def structs(random_: random.Random) -> list[str]:
    texts = []
    for i in range(STRUCTS):
        members = []
        for j in range(random_.randrange(1, 7)):
            kind = random_.choice([*TYPES, *([f"S{random_.randrange(i)}"] if i else [])])
            extent = random_.choice(["", "", "", "[3]", "[2][2]"])
            members.append(f"{kind} m{j}{extent};")
        base = f" : S{random_.randrange(i)}" if i and random_.random() < 0.1 else ""
        texts.append(
            f"{random_.choice(['struct', 'struct', 'union'] if not base else ['struct'])} S{i}{base} "
            f"{{ {' '.join(members)} }};"
        )
    return [text for text in texts if not (text.startswith("union") and ":" in text.split("{")[0])]


def test_sizes_and_offsets_of_structs(tmp_path: Path) -> None:
    texts = [text for text in structs(random.Random(7)) if " : " not in text]  # offsetof needs standard layout
    names = [text.split()[1] for text in texts]
    known = set(names)
    texts = [text for text in texts if all(word in known for word in text.replace("[", " ").split() if word[0] == "S")]
    names = [text.split()[1] for text in texts]
    source = "#include <cstddef>\n" + "\n".join(texts)
    code = interpreted(source, {}, {})
    lines, own = [], []
    for name in names:
        lines.append(f'printf("%zu\\n", sizeof({name}));')
        own.append(str(code.host.layouts.size_of(name)))
        for field in code.host.layouts.fields(name):
            lines.append(f'printf("%zu %zu\\n", offsetof({name}, {field.path}), sizeof((({name} *)0)->{field.path}));')
            own.append(f"{field.offset} {field.size}")
    assert len(own) > 400
    assert run(f"#include <cstdio>\n{source}\nint main() {{ {' '.join(lines)} }}", tmp_path)[: len(own)] == own


def test_a_base_class_comes_first(tmp_path: Path) -> None:
    source = "struct A { char c; int i; }; struct B : A { short s; double d; };"
    printed = run(
        f"#include <cstdio>\n{source}\nint main() {{ B b; "
        'printf("%zu %zu\\n", sizeof(B), (char *)&b.s - (char *)&b); }',
        tmp_path,
    )
    layouts = interpreted(source, {}, {}).host.layouts
    offsets = {field.path: field.offset for field in layouts.fields("B")}
    assert printed[0] == f"{layouts.size_of('B')} {offsets['s']}"


def test_vectors_align_to_their_size() -> None:
    layouts = interpreted("struct V { char c; float4 v; char d; float3 w; double2 x; uchar4 y; };", {}, {}).host.layouts
    offsets = {field.path: (field.offset, field.size) for field in layouts.fields("V")}
    assert offsets == {"c": (0, 1), "v": (16, 16), "d": (32, 1), "w": (36, 12), "x": (48, 16), "y": (64, 4)}
    assert layouts.size_of("V") == 80
