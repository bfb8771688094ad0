"""The state of the page survives its address, and damaged or greedy addresses harm nobody."""

import base64
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpbound.errors import InputError
from warpbound.page.pasted_source import LARGEST
from warpbound.page.state import LONGEST_IN_ADDRESS, State, Texts, from_query, to_query, unpacked

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
numbers = st.floats(allow_nan=False, allow_infinity=False)
states = st.builds(
    State,
    source=words,
    gpu=words,
    kernel=words,
    grid=words,
    block=words,
    smem=words,
    args=words,
    view=words,
    values=st.dictionaries(words, numbers, max_size=4).map(lambda found: tuple(found.items())),
)


@given(states)
def test_round_trip(state: State) -> None:
    assert from_query("?" + to_query(state)) == state


def test_defaults_need_no_words() -> None:
    assert to_query(State()) == ""
    assert from_query("") == State()


def test_the_unknown_is_left_out() -> None:
    assert from_query("?colour=red&set=x.threads:nan&set=x.threads&set=mix.warps:12&gpu=l4") == State(
        gpu="l4", values=(("mix.warps", 12.0),)
    )


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_short_text_travels_in_the_address(text: str) -> None:
    source = Texts().source(text)
    assert source.startswith("text:")
    assert Texts().text(source) == text  # another server reads it


def test_long_text_stays_on_this_server_and_is_forgotten_in_time() -> None:
    texts = Texts(most=2)
    long = ["".join(f"float v{n}_{i * 2654435761 % 2**32:x};" for i in range(2000)) for n in range(3)]
    named = [texts.source(text) for text in long]
    assert all(source.startswith("here:") and len(source) < 100 for source in named)
    assert texts.text(named[2]) == long[2]
    with pytest.raises(InputError, match="does not hold"):
        texts.text(named[0])
    with pytest.raises(InputError, match="does not hold"):
        Texts().text(named[2])


@pytest.mark.parametrize("word", ["", "no base64!", base64.urlsafe_b64encode(b"not zlib").decode(), "é"])
def test_damaged_text(word: str) -> None:
    with pytest.raises(InputError, match="damaged"):
        unpacked(word)


def test_text_that_grows_without_end() -> None:
    bomb = base64.urlsafe_b64encode(zlib.compress(b" " * 50 * LARGEST, 9)).decode()
    with pytest.raises(InputError, match="more than"):
        unpacked(bomb)
    assert LONGEST_IN_ADDRESS < 4096  # a longer address is not told to the server


@pytest.mark.parametrize("source", ["example:none", "paper:x/9", "<b>", "bare", "text:eJw", "example:saxpy"])
def test_what_an_address_asks_for_in_vain_stands_in_the_lists(source: str) -> None:
    """Else Dash puts nothing in its place, and no answer could name it."""
    pytest.importorskip("dash")
    from warpbound.page.layout import PASTED, form_fields

    fields, *_ = form_fields(State(source=source, gpu="none"), {}).children
    lists = {field.children[1].id: field.children[1] for field in fields.children}
    assert lists["source"].value == (PASTED if source.startswith("text:") else source)
    assert lists["gpu"].value == "none"
    for one in lists.values():
        assert [option["value"] for option in one.options].count(one.value) == 1
