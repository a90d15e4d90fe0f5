"""English numbers that count units of time: in figures and words, vague ones ("a few") and halves."""

from typing import Final

__all__ = ["COUNT", "amount", "counted"]

_SMALL: Final = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES: Final = (
    {word: number for number, word in enumerate(_SMALL, start=1)}
    | {word: 10 * number for number, word in enumerate(_TENS, start=2)}
    | {"a": 1, "an": 1}
)
_VAGUE: Final = {"couple": (2, 3), "few": (2, 6), "several": (3, 7)}
"""The least and the most that they may mean."""

_SPOKEN_SMALL: Final = "|".join(sorted(_SMALL, key=len, reverse=True))
_BELOW_HUNDRED: Final = rf"(?:(?:{'|'.join(_TENS)})(?:(?:-| )(?:{'|'.join(_SMALL[:9])})\b)?|{_SPOKEN_SMALL})"
_WHOLE: Final = rf"(?:\d{{1,4}}|(?:an?|{_SPOKEN_SMALL}) hundred(?:(?: and)? {_BELOW_HUNDRED})?|{_BELOW_HUNDRED})"
COUNT: Final = (
    rf"(?<!\w)(?<!\d[.,])(?P<count>half an?|\d{{1,3}}\.\d|{_WHOLE}(?: and a half)?"
    r"|(?:a )?couple(?: of)?|(?:a )?few|several|an?)"
)
"""A pattern of what `counted` reads. Whatever it ends before, it begins no earlier than the number does."""

_FINER: Final = {
    "decade": (10, "year"),
    "year": (12, "month"),
    "month": (4, "week"),
    "fortnight": (2, "week"),
    "week": (7, "day"),
    "day": (24, "hour"),
    "hour": (60, "minute"),
}
"""How many of which unit halves are told in: none that is finer than they are meant."""


def amount(words: str) -> tuple[int, int]:
    """The whole number that is written in figures or words, as its least and most: "a few" is 2 to 6.

    Raises ValueError for anything else.
    """
    said = words.lower().replace("-", " ").split()
    if len(said) == 1 and said[0].isdecimal():
        return int(said[0]), int(said[0])
    for word in said:
        if word in _VAGUE:
            return _VAGUE[word]
    number = 0
    for word in said:
        number = 100 * number if word == "hundred" else number + (0 if word == "and" else _value(word))
    return number, number


def _value(word: str) -> int:
    if word not in _VALUES:
        raise ValueError(f"not a number: {word!r}")
    return _VALUES[word]


def counted(words: str, unit: str) -> tuple[int, int, str]:
    """The least and the most of how many of which unit: "half a" year is six months, a fortnight two weeks."""
    said = " ".join(words.lower().split())
    if "half" in said or "." in said:
        size, finer = _FINER.get(unit, (1, unit))
        number = round(_fraction(said) * size)
        return number, number, finer
    least, most = amount(said)
    return (2 * least, 2 * most, "week") if unit == "fortnight" else (least, most, unit)


def _fraction(said: str) -> float:
    if "." in said:
        return float(said)
    whole = said.removesuffix("and a half").strip()
    return 0.5 if whole.startswith("half") else amount(whole)[0] + 0.5
