"""The conversations that tests run on."""

import random

from memforest_ray.facts.sessions import admit
from memforest_ray.testing.conversations import conversation, growth_of


def test_the_same_seed_says_the_same() -> None:
    """And another seed something else."""
    assert conversation(7) == conversation(7)
    assert conversation(7) != conversation(8)


def test_they_hold_what_makes_forests_hard() -> None:
    """Undated sessions and dated ones, turns with times of their own, repeated statements, empty turns, prompts."""
    sessions = [session for seed in range(20) for session in conversation(seed)]
    turns = [turn for session in sessions for turn in session.turns]
    texts = [turn.text for turn in turns]
    assert {session.time is None for session in sessions} == {True, False}
    assert {turn.time is None for turn in turns} == {True, False}
    assert len(set(texts)) < len(texts)
    assert "" in texts
    assert {turn.role for turn in turns} == {"user", "assistant", "system"}
    assert all(admit(session).record.turns for session in sessions)


def test_growth_ends_with_the_whole_session() -> None:
    """Each piece is a beginning of the session, longer than the one before."""
    session = max(conversation(1), key=lambda each: len(each.turns))
    pieces = growth_of(session, random.Random(1))
    lengths = [len(piece.turns) for piece in pieces]
    assert lengths == sorted(set(lengths))
    assert pieces[-1] == session
    assert all(list(piece.turns) == list(session.turns)[: len(piece.turns)] for piece in pieces)
