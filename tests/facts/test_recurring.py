"""Hints for scripts without capitals."""

from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.facts.recurring import HINTS_MAX, TURNS_MIN, WINDOW_TURNS, recurring
from memforest_ray.facts.sessions import SessionRecord, TurnRecord
from memforest_ray.ids import SessionId


def session_of(*texts: str) -> SessionRecord:
    return SessionRecord(SessionId("s"), tuple(TurnRecord("user", "Ana", text) for text in texts))


def hints_of(*texts: str) -> list[tuple[str, ...]]:
    """Hints of cells of one turn each."""
    return recurring(session_of(*texts), [(i, i) for i in range(len(texts))])


def test_a_name_without_spaces_returns() -> None:
    """In Chinese a name is a hint from the third turn that holds it, whole and not in pieces."""
    hints = hints_of("我见了王小明。", "王小明呢?", "没有", "跟王小明吃饭了")
    assert hints == [(), (), (), ("王小明",)]


def test_a_shorter_name_that_returns_more_often_stays() -> None:
    """A piece is dropped only where the longer hint accounts for each of its turns."""
    assert hints_of("王小明", "王小明", "小明", "王小明")[3] == ("小明", "王小明")


def test_words_of_a_spaced_script() -> None:
    """In Hindi and Arabic a hint is a word with its vowel signs; grammar words are none."""
    assert hints_of("मीरा है", "क्या मीरा है", "वह मीरा है")[2] == ("मीरा",)
    assert hints_of("من ليلى", "هذه ليلى", "ليلى في")[2] == ("ليلى",)


def test_scripts_with_capitals_give_none() -> None:
    """Latin and Cyrillic names are known by their capitals."""
    assert hints_of("Ana é", "Ana é Анна", "Ana é Анна") == [()] * 3


def test_only_hints_in_the_cell() -> None:
    """What returned before but is not in the cell is no hint for it."""
    assert hints_of("王小明", "王小明", "王小明", "好天气")[3] == ()


def test_the_window_forgets() -> None:
    """Turns further back than the window do not count."""
    filler = ["ok"] * WINDOW_TURNS
    assert hints_of("王小明", "王小明", *filler, "王小明")[-1] == ()


def test_few_hints() -> None:
    """However much returns, a cell has a bounded number of hints."""
    text = " ".join(chr(0x4E00 + i) + chr(0x5E00 + i) for i in range(200))
    assert len(hints_of(*[text] * TURNS_MIN)[-1]) == HINTS_MAX


@given(st.lists(st.text("王小明张 a", max_size=8), min_size=1, max_size=100), st.data())
def test_hints_of_some_cells_are_those_of_all(texts: list[str], data: st.DataObject) -> None:
    """Asked alone, or before the session has grown, a cell has the same hints."""
    turn = data.draw(st.integers(0, len(texts) - 1))
    assert hints_of(*texts)[turn] == recurring(session_of(*texts[: turn + 1]), [(turn, turn)])[0]
