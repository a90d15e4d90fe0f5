"""A question to a version: what comes first, what does not come at all, and why."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.candidates import Kind
from memforest_ray.ids import SessionId
from memforest_ray.query.render import line, tokens
from memforest_ray.query.result import EmptyReason, Result
from memforest_ray.testing.memory import Memory, days, instant

SMALL_TALK = [
    "The soup was too salty",
    "My bicycle has a flat tire",
    "The choir sings on Tuesdays",
    "A neighbour planted tulips",
    "The printer is out of paper",
]


def _texts(result: Result) -> list[str]:
    return [hit.text for hit in result]


def _kitchen(memory: Memory) -> Memory:
    memory.say(
        "s1",
        "2023-05-08T10:00:00Z",
        ("Ann", "Which spice do you put in?"),
        ("Bob", "Always cardamom, my grandmother did too"),
        ("Ann", "Lovely!"),
    )
    memory.state("s1", 1, "Bob always puts in cardamom", entities=("Bob",))
    memory.told("s2", "2023-06-01T10:00:00Z", "Bob bought a kayak", event=days("2023-05-31"))
    memory.told("s3", "2023-07-01T10:00:00Z", "Ann painted the fence green", speaker="Ann")
    return memory


_SHARED = _kitchen(Memory())


def test_the_fact_that_answers_comes_first(memory: Memory) -> None:
    """With its source, both its times, its turn and its tree."""
    first = _kitchen(memory).ask("When did Bob buy the kayak?")[0]
    assert first.text == "Bob bought a kayak"
    assert first.kind == "fact"
    assert first.turn_ids == ("s2#0",)
    assert (first.session_id, first.speaker) == ("s2", "Bob")
    assert first.source_time is not None
    assert first.source_time.isoformat() == "2023-06-01T10:00:00+00:00"
    assert first.event_time == days("2023-05-31")
    assert first.tree.startswith(("entity:", "scene:"))
    assert first.path == ("2023-05-08 to 2023-05-31",)


def test_a_reply_is_found_through_the_question_before_it(memory: Memory) -> None:
    """The word "spice" stands in the turn before, not in the fact."""
    assert "Bob always puts in cardamom" in _texts(_kitchen(memory).ask("What spice does Bob use?", k=2))


def test_dialogue_without_a_fact_is_a_cell_hit(memory: Memory) -> None:
    """It names its best turn first, and stands once."""
    memory.say("s1", "2023-05-08", ("Ann", "Hello there"), ("Bob", "The password is swordfish"))
    result = memory.ask("What is the password?")
    assert [(hit.kind, hit.turn_ids, hit.fact_id) for hit in result] == [("cell", ("s1#1", "s1#0"), None)]
    assert result[0].text == "Ann: Hello there\nBob: The password is swordfish"


def test_a_turn_that_a_fact_tells_is_no_hit_of_its_own(memory: Memory) -> None:
    """Only the third turn of the first session is told by no fact."""
    hits = _kitchen(memory).ask("Bob cardamom kayak fence", k=50)
    assert sorted(hit.kind for hit in hits) == ["cell", "cell", "fact", "fact", "fact"]
    cells = [hit.turn_ids for hit in hits if hit.kind == "cell"]
    assert sorted(cells) == [("s1#1", "s1#0"), ("s1#2",)]


def test_a_nonsense_question_has_low_scores_and_a_good_one_high(memory: Memory) -> None:
    """Scores are absolute."""
    kitchen = _kitchen(memory)
    assert kitchen.ask("zxcv qwer asdf").hits[0].score < 0.1
    assert kitchen.ask("Who painted the fence green?").hits[0].score > 0.5


def test_a_score_does_not_depend_on_k(memory: Memory) -> None:
    """The first of one is the first of many, with the same score."""
    kitchen = _kitchen(memory)
    one, many = kitchen.ask("Who has a kayak?", k=1), kitchen.ask("Who has a kayak?", k=100)
    assert len(one) == 1
    assert one[0] == many[0]


@pytest.mark.parametrize("facts", [0, 1, 2])
def test_small_memories_answer(memory: Memory, facts: int) -> None:
    """k may be larger than what is there."""
    for number in range(facts):
        memory.told(f"s{number}", "2023-05-08", f"Bob has {number + 2} canaries")
    result = memory.ask("How many canaries does Bob have?", k=10)
    assert len(result) == facts
    assert bool(result) == (facts > 0)
    assert result.reason == (None if facts else EmptyReason.NO_MEMORY)


def test_an_empty_memory_says_so(memory: Memory) -> None:
    """Falsy, with the reason and a sentence."""
    result = memory.ask("Anything?")
    assert not result
    assert result.to_json()["reason"] == "no_memory"
    assert result.message == "nothing is remembered yet"


def test_an_unknown_mode_names_the_known_ones(memory: Memory) -> None:
    """It is the caller's mistake, also for an empty memory."""
    with pytest.raises(
        InvalidInput, match=r"unknown mode 'deep'; known: embed, flat, llm, planner, planner\+embed, root"
    ):
        memory.ask("Anything?", mode="deep")


@pytest.mark.parametrize("mode", ["flat", "root", "embed"])
def test_every_mode_finds_it(memory: Memory, mode: str) -> None:
    """They differ in what they look into; `flat` looks into no tree."""
    result = _kitchen(memory).ask("Who painted the fence green?", mode=mode)
    assert result[0].text == "Ann painted the fence green"
    assert bool(result.trace.trees) == (mode != "flat")
    assert result.trace.mode == mode


def test_since_and_until_bound_the_event_time(memory: Memory) -> None:
    """A fact counts by when it happened, else by when it was said; the end is excluded."""
    kitchen = _kitchen(memory)
    assert _texts(kitchen.ask("Bob", since="2023-05-31", until="2023-06-01")) == ["Bob bought a kayak"]
    cell = "Bob: Bob bought a kayak"
    assert cell not in _texts(kitchen.ask("Bob", since="2023-05-31", until="2023-06-01"))


def test_an_interval_without_anything_is_named(memory: Memory) -> None:
    """No match is not no memory."""
    result = _kitchen(memory).ask("Bob", since="1999-01-01", until="1999-02-01")
    assert result.reason is EmptyReason.NO_MATCH
    assert result.message == "nothing is remembered for 1999-01-01 to 1999-01-31"


def test_filters_that_leave_nothing_say_so(memory: Memory) -> None:
    """What was found did not pass."""
    result = _kitchen(memory).ask("kayak", speaker="Nobody")
    assert (len(result), result.reason) == (0, EmptyReason.FILTERED)


def test_filters_keep_what_was_asked_for(memory: Memory) -> None:
    """By kind, speaker, session and entity."""
    kitchen = _kitchen(memory)
    assert {hit.kind for hit in kitchen.ask("kayak", kind="fact", k=50)} == {"fact"}
    assert {hit.kind for hit in kitchen.ask("kayak", kind="cell", k=50)} == {"cell"}
    assert {hit.speaker for hit in kitchen.ask("kayak", speaker="ANN", kind="fact", k=50)} == {"Ann"}
    assert {hit.session_id for hit in kitchen.ask("kayak", session="s1", k=50)} == {"s1"}
    assert _texts(kitchen.ask("kayak", entity="ann", k=50)) == ["Ann painted the fence green"]


def test_a_token_budget_bounds_the_texts(memory: Memory) -> None:
    """As many hits as fit, in order, with both their times."""
    kitchen = _kitchen(memory)
    everything = kitchen.ask("Bob kayak", k=50)
    some = kitchen.ask("Bob kayak", k=50, token_budget=40)
    assert 0 < len(some) < len(everything)
    assert some.hits == everything.hits[: len(some)]
    assert sum(tokens(line(hit)) for hit in some) <= 40
    assert kitchen.ask("Bob kayak", token_budget=1).reason is EmptyReason.FILTERED


def test_where_the_best_is_too_long_a_shorter_one_stands_for_it(memory: Memory) -> None:
    """A budget that holds any hit is not answered with none."""
    memory.told("s1", "2023-05-08", "Bob keeps a kayak " + "that is painted in many colours " * 12, speaker="Bob")
    memory.told("s2", "2023-05-09", "Bob sold a kayak", speaker="Bob")
    long, short = list(memory.ask("Bob kayak painted in many colours", kind="fact"))[:2]
    assert tokens(line(long)) > 60 > tokens(line(short))
    hits = memory.ask("Bob kayak painted in many colours", kind="fact", token_budget=60)
    assert [hit.text for hit in hits] == ["Bob sold a kayak"]


def test_complete_expansion_gives_whole_trees(memory: Memory) -> None:
    """The best tree with all its leaves in order of time, whatever k hits would have been."""
    for day, word in enumerate(SMALL_TALK, start=1):
        memory.told(f"s{day}", f"2023-05-0{day}", word)
    result = memory.ask("tulips", k=1, expand="complete")
    assert len({hit.tree for hit in result}) == 1
    everything = memory.ask("tulips", k=50, expand="complete")
    assert set(SMALL_TALK) <= set(_texts(everything))
    flat = memory.ask("tulips", k=50, expand="complete", mode="flat", kind="cell")
    assert {hit.kind for hit in flat} == {"cell"}
    assert len(flat) == 5


def test_a_memory_of_forgotten_turns_only_is_empty(memory: Memory) -> None:
    """Cells that hold nothing any more are no memory."""
    memory.say("s1", "2023-05-08", ("Bob", "gone"))
    record = memory.records[SessionId("s1")]
    hole = replace(record.turns[0], text="", speaker="", hole="00")
    memory.records[SessionId("s1")] = replace(record, turns=(hole,))
    assert memory.ask("Anything?").reason is EmptyReason.NO_MEMORY


def test_as_of_shows_nothing_learnt_later(memory: Memory) -> None:
    """No fact, no turn, no interval, and a fact told again later shows its first mention only."""
    kitchen = _kitchen(memory)
    kitchen.told("s4", "2023-08-01", "Bob bought a kayak", event=days("2023-05-31"))
    result = kitchen.ask("What kayak did Bob buy?", as_of="2023-06-02", k=50)
    shown = str(result.to_json())
    assert "fence" not in shown
    assert "s4" not in shown
    assert "2023-07" not in shown
    assert "2023-08" not in shown
    assert result[0].turn_ids == ("s2#0",)
    assert kitchen.ask("What kayak did Bob buy?", k=50)[0].turn_ids == ("s2#0", "s4#0")


def test_as_of_before_everything_names_the_instant(memory: Memory) -> None:
    """Nothing was known then."""
    result = _kitchen(memory).ask("kayak", as_of="2001-01-01")
    assert result.reason is EmptyReason.NO_MATCH
    assert "2001-01-01" in result.message


def test_a_turn_of_unknown_time_is_found_but_never_by_time(memory: Memory) -> None:
    """It has no time to lie in."""
    memory.told("s1", None, "Bob plays the oboe")
    assert _texts(memory.ask("oboe"))[0] == "Bob plays the oboe"
    assert memory.ask("oboe")[0].source_time is None
    assert not memory.ask("oboe", since="1900-01-01")
    assert not memory.ask("oboe", as_of="2999-01-01")


def test_the_order_of_arrival_does_not_show(memory: Memory) -> None:
    """The same sessions in another order give the same hits, ties included."""
    other = Memory()
    told = [(f"s{number}", f"2023-05-{number + 1:02d}", SMALL_TALK[number % 5]) for number in range(12)]
    for entry in told:
        memory.told(*entry)
    for entry in reversed(told):
        other.told(*entry)
    for question in ("tulips", "What about Bob?", "soup paper"):
        one, two = memory.ask(question, k=50, mode="flat"), other.ask(question, k=50, mode="flat")
        assert [(hit.text, hit.turn_ids) for hit in one] == [(hit.text, hit.turn_ids) for hit in two]


def test_equal_scores_stand_in_leaf_order(memory: Memory) -> None:
    """Earlier first."""
    for day in (3, 1, 2):
        memory.told(f"s{day}", f"2023-05-0{day}", f"Bob saw bird number{day}")
    result = memory.ask("Bob saw a bird", mode="flat", kind="fact")
    assert [hit.session_id for hit in result] == ["s1", "s2", "s3"]


def test_words_alone_decide_where_the_embedder_knows_nothing(memory: Memory) -> None:
    """Chinese by pairs of characters, Hindi by words; the trace says so."""
    memory.told("s1", "2023-05-08", "我在杭州的茶园工作", speaker="小明")
    memory.told("s2", "2023-05-09", "我喜欢打乒乓球", speaker="小明")
    memory.told("s3", "2023-05-10", "मेरी बहन जयपुर में रहती है", speaker="रवि")
    memory.told("s4", "2023-05-11", "मुझे आम पसंद है", speaker="रवि")
    tea, sister = memory.ask("谁在茶园工作?"), memory.ask("बहन कहाँ रहती है?")
    assert tea[0].text == "我在杭州的茶园工作"
    assert sister[0].text == "मेरी बहन जयपुर में रहती है"
    assert tea.trace.fallbacks == ("the embedder does not know this script: words alone decided",)
    assert tea[0].score > 0.3


def test_how_many_times_finds_each_time(memory: Memory) -> None:
    """Five visits on five days are five hits."""
    for number, word in enumerate(SMALL_TALK * 4):
        memory.told(f"x{number}", "2023-05-01", f"{word} again, number {number}")
    for day in range(1, 6):
        memory.told(f"s{day}", f"2023-05-0{day}", "Bob went to the gym", event=days(f"2023-05-0{day}"))
    hits = memory.ask("How many times did Bob go to the gym?", k=5)
    assert [hit.event_time for hit in hits] == [days(f"2023-05-0{day}") for day in range(1, 6)]


def test_what_was_never_said_scores_low(memory: Memory) -> None:
    """A question about something else of the same person."""
    assert _kitchen(memory).ask("Has Bob ever been to Antarctica?")[0].score < 0.5


def test_a_result_is_plain_data(memory: Memory) -> None:
    """JSON all the way down, times in ISO 8601."""
    data = _kitchen(memory).ask("When did Bob buy the kayak?").to_json()
    first = data["hits"][0]
    assert first["event_time"]["start"] == "2023-05-31T00:00:00+00:00"
    assert first["source_time"] == "2023-06-01T10:00:00+00:00"
    assert data["version"] == 1
    assert data["trace"]["trees"][0].keys() == {"scope", "score", "root", "fact"}


def test_as_of_counts_words_of_what_was_known_only(memory: Memory) -> None:
    """What comes later does not change a score of then."""
    kitchen = _kitchen(memory)
    before = kitchen.ask("What did Bob buy?", as_of="2023-06-02", mode="flat")
    for number in range(20):
        kitchen.told(f"late{number}", "2024-01-01", f"Bob bought thing {number}")
    after = kitchen.ask("What did Bob buy?", as_of="2023-06-02", mode="flat")
    assert [(hit.text, hit.score) for hit in after] == [(hit.text, hit.score) for hit in before]


@settings(max_examples=80, deadline=None)
@given(
    st.text(min_size=1, max_size=80).filter(str.strip), st.sampled_from(["flat", "root", "embed"]), st.integers(1, 9)
)
def test_any_question_has_a_result(text: str, mode: str, k: int) -> None:
    """Whatever is asked: at most k hits, scores falling and between 0 and 1, the same when asked again."""
    result = _SHARED.ask(text, mode=mode, k=k)
    assert len(result) <= k
    scores = [hit.score for hit in result]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert _SHARED.ask(text, mode=mode, k=k) == result


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 400), st.sampled_from(["kayak", "Bob in May 2023", "Where does Bob live now?", "fence"]))
def test_as_of_never_tells_of_later(day: int, text: str) -> None:
    """Whatever the instant: nothing shown was said after it."""
    as_of = instant("2023-04-01") + day * 86_400_000
    result = _SHARED.ask(text, as_of=as_of, k=50)
    said = [hit.source_time for hit in result]
    assert all(time is not None and time.timestamp() * 1000 <= as_of for time in said)
    turns = {turn for hit in result for turn in hit.turn_ids}
    records = _SHARED.version.sessions
    times = [records[SessionId(turn.partition("#")[0])].time_ms for turn in turns]
    assert all(time is not None and time <= as_of for time in times)


@pytest.mark.parametrize("options", [{"session": "s1"}, {"until": "2024-02-10"}])
def test_what_is_filtered_out_holds_nothing_back(memory: Memory, options: dict[str, str]) -> None:
    """Where only a part of the memory is asked, what is so now elsewhere says nothing against it."""
    home: dict[str, str] = {"subject": "Bob", "attribute": "residence"}
    memory.told("s1", "2024-02-05", "Bob lives in Ulm", kind=Kind.STATE, value="Ulm", **home)
    memory.told("s2", "2024-03-05", "Bob moved to Graz", kind=Kind.TRANSITION, value="Graz", **home)
    first = memory.ask("Where does Bob live?", **options)[0]
    assert (first.text, first.timely) == ("Bob lives in Ulm", True)
