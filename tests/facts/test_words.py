"""Words, stems and the stemmed content of a statement."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.facts.words import (
    STOP_WORDS,
    content_stems,
    content_tokens,
    fold,
    query_tokens,
    stem,
    tokens,
    unaccented,
    words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C++ beside C# beside C", ["c++", "beside", "c#", "beside", "c"]),
        ("Mr. O’Neil's LGBTQ+ club", ["mr", "o'neil's", "lgbtq", "club"]),
        ("1,000 is 1000, not 3.5", ["1000", "is", "1000", "not", "3.5"]),
        ("code 7-A, snake_case", ["code", "7", "a", "snake", "case"]),
        ("notepad++ and #1 #tag +5", ["notepad++", "and", "1", "tag", "5"]),
        ("Jose\u0301 and José", ["josé", "and", "josé"]),
        ("STRASSE straße ﬁne", ["strasse", "strasse", "fine"]),
        ("मैं हिन्दी में", ["मैं", "हिन्दी", "में"]),
        ("住在北京 2019年", ["住", "在", "住在", "北", "在北", "京", "北京", "2019", "年"]),
        ("ひらカナ", ["ひら", "らカ", "カナ"]),
        ("サ", ["サ"]),
        ("서울에", ["서울", "울에"]),
        ("กรุงเทพ", ["กรุ", "รุง", "งเ", "เท", "ทพ"]),
        ("AI公司", ["ai", "公", "司", "公司"]),
        ("zero\u200bwidth so\u00adft", ["zerowidth", "soft"]),
        ("hello \u0000 world \ud800 👍", ["hello", "world"]),
        ("", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    """Words keep what names need and drop what only writing needs."""
    assert words(text) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("painting", "paint"),
        ("paintings", "paint"),
        ("anna's", "anna"),
        ("c++", "c++"),
        ("c#", "c#"),
        ("2019", "2019"),
        ("книги", "книг"),
        ("北京", "北京"),
        ("", ""),
    ],
)
def test_stem(word: str, expected: str) -> None:
    """The stemmer is chosen by script; what has none stays."""
    assert stem(word) == expected


def test_stems_are_the_same_in_every_thread() -> None:
    """Snowball's objects hold state, so each thread has its own."""
    listed = [f"{start}{end}" for start in ("paint", "walk", "jump", "cook") for end in ("ing", "s", "ed", "er")] * 50
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(stem.__wrapped__, listed))
    assert found == [stem(word) for word in listed]


def test_index_terms_and_query_terms() -> None:
    """The index keeps every word, a question only those that say something."""
    assert tokens("The kids were painting a lake") == ["the", "kid", "were", "paint", "a", "lake"]
    assert query_tokens("What did the kids paint?") == ["kid", "paint"]
    assert query_tokens("The Who") == ["the", "who"]
    assert query_tokens("?!") == []


@pytest.mark.parametrize(
    "text", ["The kids' 1,000 C++ paintings aren't O'Neil's", "Who?", "我在花店工作 with Rex", "LGBTQ+ ok", ""]
)
def test_what_is_indexed_are_the_terms_but_stop_words(text: str) -> None:
    """The quick way to them is no other way."""
    assert content_tokens(text) == [stem(word) for word in words(text) if word not in STOP_WORDS]


@given(
    st.text()
    | st.lists(
        st.sampled_from([*" \t\x1f\x85\xa0\u2003\u3000", *"ab1,.'`’´_+#-Éé", *"¨\u0301\u200b\u00ad\u0308ﬁß京都かไทย서"])
    ).map("".join)
)
def test_no_term_reaches_across_white_space(text: str) -> None:
    """Terms may be made run by run, and remembered with these, whatever white space stands between them."""
    assert content_tokens(text) == [stem(unaccented(word)) for word in words(text) if word not in STOP_WORDS]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna is allergic to nuts.", "Anna's really allergic to nuts"),
        ("Bob cannot eat the eggs", "Bob can't eat eggs!"),
        ("Bob has a dog", "bob have dog"),
        ("Ana paints lakes", "ana painting a lake"),
    ],
)
def test_equal_content(one: str, other: str) -> None:
    """Spelling, articles and number do not make another statement."""
    assert content_stems(one) == content_stems(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("allergic to nuts", "not allergic to nuts"),
        ("Bob can eat nuts", "Bob can't eat nuts"),
        ("Bob eats nuts", "Bob doesn't eat nuts"),
        ("moved from Boston to Davis", "moved from Davis to Boston"),
        ("moved from Boston to Davis", "moved to Boston from Davis"),
        ("5 years at the firm", "6 years at the firm"),
        ("code 7-A", "code 9-A"),
        ("on 3 May", "on 10 May"),
        ("Ana lived in Davis", "Ana lives in Davis"),
        ("Ana was a nurse", "Ana is a nurse"),
        ("Ana writes C", "Ana writes C++"),
        ("his car", "her car"),
        ("住在北京", "住在南京"),
    ],
)
def test_other_content(one: str, other: str) -> None:
    """Negation, direction, numbers, tense and names do make another statement."""
    assert content_stems(one) != content_stems(other)


@given(st.text(st.characters(codec=None)))
def test_any_text_is_cut(text: str) -> None:
    """No text raises, and what is cut is folded, not blank and cut again to itself."""
    found = words(text)
    assert all(word.strip() == word != "" for word in found)
    assert len(tokens(text)) == len(found)
    assert all(isinstance(part, str) for part in content_stems(text))


@given(st.text())
def test_folding_is_idempotent_on_case(text: str) -> None:
    """Composition and case do not matter."""
    assert fold(text.upper().lower()) == fold(fold(text.upper().lower()))


def test_stop_words_are_words() -> None:
    """Each stop word is what `words` would give, else it could never match."""
    assert [word for word in sorted(STOP_WORDS) if words(word) != [word]] == []


def test_a_long_text_is_cut_in_linear_time() -> None:
    """A run of 400,000 characters without a space is cut at once."""
    assert len(words("a'" * 200_000)) == 1
    assert len(words("猫" * 200_000)) == 399_999


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("josé", "jose"),
        ("jose\u0301", "jose"),
        ("zoë", "zoe"),
        ("ürün", "urun"),
        ("plain", "plain"),
        ("реку́", "реку́"),
        ("है", "है"),
        ("ガ", "ガ"),
    ],
)
def test_latin_letters_lose_their_accents(word: str, expected: str) -> None:
    """Marks of other scripts are letters of theirs."""
    assert unaccented(word) == expected


def test_words_are_looked_up_without_accents_and_compared_with_them() -> None:
    """ "Cafe Zoe" finds "Café Zoë"; two statements that differ by an accent stay two."""
    assert query_tokens("Cafe Zoe") == content_tokens("Café Zoë")
    assert content_stems("Bob met Zoe") != content_stems("Bob met Zoë")
