"""Attributes: what a clause says for sure, with subject and value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.facts.attributes import _HOOKS, Attribute, Naming, attribute_of, naming_of
from memforest_ray.facts.candidates import Kind
from memforest_ray.facts.patterns import ENGLISH, NAMING, OTHER

STATE, TRANSITION, PREFERENCE, CONSTRAINT = Kind.STATE, Kind.TRANSITION, Kind.PREFERENCE, Kind.CONSTRAINT


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("I live in Davis", Attribute("residence", "Davis", STATE, "I")),
        ("i live in davis", Attribute("residence", "davis", STATE, "I")),
        ("I've been living in San Luis, CA for years", Attribute("residence", "San Luis, CA", STATE, "I")),
        ("Ana lives in Davis now", Attribute("residence", "Davis", STATE, "Ana")),
        ("I moved to Davis last year", Attribute("residence", "Davis", TRANSITION, "I")),
        ("I just moved from Boston to New York City.", Attribute("residence", "New York City", TRANSITION, "I")),
        ("I used to live in Austin", Attribute("residence", "Austin", STATE, "I", past=True)),
        ("I lived in Austin", Attribute("residence", "Austin", STATE, "I", past=True)),
        ("I no longer live in Boston", Attribute("residence", None, TRANSITION, "I")),
        ("I don't live in Boston any more", Attribute("residence", None, TRANSITION, "I")),
        ("I'm originally from Sweden", Attribute("hometown", "Sweden", STATE, "I")),
        ("I work at Acme Corp", Attribute("employer", "Acme Corp", STATE, "I")),
        ("Ana works for O'Neil Labs", Attribute("employer", "O'Neil Labs", STATE, "Ana")),
        ("I started a new job at Acme", Attribute("employer", "Acme", TRANSITION, "I")),
        ("I quit my job at Acme", Attribute("employer", None, TRANSITION, "I")),
        ("I don't work at Acme anymore", Attribute("employer", None, TRANSITION, "I")),
        ("I used to work for Acme", Attribute("employer", "Acme", STATE, "I", past=True)),
        ("I got promoted to senior designer", Attribute("job", "senior designer", TRANSITION, "I")),
        ("I work as a night nurse", Attribute("job", "night nurse", STATE, "I")),
        ("I'm a nurse", Attribute("job", "nurse", STATE, "I")),
        ("I'm studying at Hill College", Attribute("school", "Hill College", STATE, "I")),
        ("My name is Ana Lopez", Attribute("name", "Ana Lopez", STATE, "I")),
        ("my phone number is 555-123-4567", Attribute("phone", "555-123-4567", STATE, "I")),
        ("My email is now a.b@c.io", Attribute("email", "a.b@c.io", STATE, "I")),
        ("I'm 25 years old", Attribute("age", "25", STATE, "I")),
        ("My birthday is May 8", Attribute("birthday", "May 8", STATE, "I")),
        ("I was born on 8 May 1990", Attribute("birthday", "8 May 1990", STATE, "I")),
        ("We heard I got engaged", Attribute("marital status", "engaged", TRANSITION, "I")),
        ("I'm married to Tom", Attribute("marital status", "married", STATE, "I")),
        ("My husband Tom cooks", Attribute("partner", "Tom", STATE, "I")),
        ("My daughter Zoe's birthday", Attribute("daughter", "Zoe", STATE, "I")),
        ("My dog's name is Rex", Attribute("dog", "Rex", STATE, "I")),
        ("my dog Rex is old", Attribute("dog", "Rex", STATE, "I")),
        ("I have a cat named Miso", Attribute("cat", "Miso", STATE, "I")),
        ("I'm vegan", Attribute("diet", "vegan", STATE, "I")),
        ("I'm no longer vegan", Attribute("diet", None, TRANSITION, "I")),
        ("I'm allergic to nuts", Attribute("allergy", "nuts", CONSTRAINT, "I")),
        ("I'm not allergic to nuts", Attribute("allergy", None, CONSTRAINT, "I")),
        ("My hobby is fencing", Attribute("hobby", "fencing", PREFERENCE, "I")),
        ("My favorite colour is blue.", Attribute("favourite colour", "blue", PREFERENCE, "I")),
        ("I drive a red Toyota", Attribute("car", "Toyota", STATE, "I")),
        ("My PIN word is HERON-7", Attribute("pin word", "HERON-7", STATE, "I")),
        ("We relocated to Oslo two weeks ago", Attribute("residence", "Oslo", TRANSITION, "I")),
        ("we live in Davis now", Attribute("residence", "Davis", STATE, "I")),
        ("My family and I moved to Oslo", Attribute("residence", "Oslo", TRANSITION, "I")),
        ("I've been hired by Nordlys", Attribute("employer", "Nordlys", TRANSITION, "I")),
        ("Ana joined Nordlys as a clerk", Attribute("employer", "Nordlys", TRANSITION, "Ana")),
        ("We moved back to Oslo", Attribute("residence", "Oslo", TRANSITION, "I")),
        ("I've been let go", Attribute("employer", None, TRANSITION, "I")),
        ("Ana resigned", Attribute("employer", None, TRANSITION, "Ana")),
        ("I got laid off", Attribute("employer", None, TRANSITION, "I")),
        ("I was fired last week", Attribute("employer", None, TRANSITION, "I")),
        ("I retired in May", Attribute("employer", None, TRANSITION, "I")),
        ("Tom and I broke up last month", Attribute("partner", None, TRANSITION, "I")),
        ("I eat meat again these days", Attribute("diet", None, TRANSITION, "I")),
        ("I changed my wifi password to crocus-9", Attribute("wifi password", "crocus-9", TRANSITION, "I")),
        ("My phone number has changed to 555-0199", Attribute("phone", "555-0199", TRANSITION, "I")),
        ("our door code: 4471", Attribute("door code", "4471", STATE, "I")),
        ("My dentist is Dr. Petersen", Attribute("dentist", "Dr. Petersen", STATE, "I")),
        ("My new dentist is Ana Petersen", Attribute("dentist", "Ana Petersen", STATE, "I")),
        ("My old dentist was Dr. Halloran", Attribute("dentist", "Dr. Halloran", STATE, "I", past=True)),
        ("I transferred to Lake University", Attribute("school", "Lake University", TRANSITION, "I")),
        ("I enrolled at the University of Graz", Attribute("school", "University of Graz", TRANSITION, "I")),
        ("We adopted a cat named Tofu", Attribute("cat", "Tofu", STATE, "I")),
        ("I've got a dog called Rex", Attribute("dog", "Rex", STATE, "I")),
        ("My cat Miso died last week", Attribute("cat", None, TRANSITION, "I")),
        ("our dog passed away", Attribute("dog", None, TRANSITION, "I")),
        ("I moved to Lakeside after school", Attribute("residence", "Lakeside", TRANSITION, "I")),
        ("I started at Nordlys in February", Attribute("employer", "Nordlys", TRANSITION, "I")),
        ("I started at Nordlys as a clerk", Attribute("employer", "Nordlys", TRANSITION, "I")),
        ("I have lived in Davis since 2019", Attribute("residence", "Davis", STATE, "I")),
        ("We've lived in Davis for ten years", Attribute("residence", "Davis", STATE, "I")),
        ("I've worked at Nordlys since May", Attribute("employer", "Nordlys", STATE, "I")),
        ("Rex died on Tuesday", Attribute("life", None, TRANSITION, "Rex")),
        ("I started at Nordlys on the 8th of August", Attribute("employer", "Nordlys", TRANSITION, "I")),
        ("I quit Nordlys in July", Attribute("employer", None, TRANSITION, "I")),
        ("Ana quit Nordlys Labs to travel", Attribute("employer", None, TRANSITION, "Ana")),
        ("I left Nordlys after six years", Attribute("employer", None, TRANSITION, "I")),
        ("I changed jobs, I'm at Nordlys now", Attribute("employer", "Nordlys", TRANSITION, "I")),
        ("José lives in Oslo", Attribute("residence", "Oslo", STATE, "José")),
        ("Élodie works at Żuraw", Attribute("employer", "Żuraw", STATE, "Élodie")),
        ("I live in Łódź", Attribute("residence", "Łódź", STATE, "I")),
        ("Ömer moved to İzmir", Attribute("residence", "İzmir", TRANSITION, "Ömer")),
        ("Ömer died on Tuesday", Attribute("life", None, TRANSITION, "Ömer")),
        ("I switched jobs and now work for Nordlys", Attribute("employer", "Nordlys", TRANSITION, "I")),
        ("I changed jobs, I'm now at the old mill", Attribute("employer", "old mill", TRANSITION, "I")),
        ("I had moved to Boston in 2010", Attribute("residence", "Boston", TRANSITION, "I")),
        ("We'd relocated to Oslo last year", Attribute("residence", "Oslo", TRANSITION, "I")),
        ("I moved to Davis when I was a kid", Attribute("residence", "Davis", TRANSITION, "I", past=True)),
        ("Before that I moved to Davis", Attribute("residence", "Davis", TRANSITION, "I", past=True)),
        ("I moved to Davis earlier this year", Attribute("residence", "Davis", TRANSITION, "I")),
        ("I quit my job years ago", Attribute("employer", None, TRANSITION, "I")),
        ("My cat Pixel turned two today", Attribute("age", "2", STATE, "Pixel")),
        ("Our son Max turned 5 last week", Attribute("age", "5", STATE, "Max")),
        ("My daughter Zoe is seven", Attribute("age", "7", STATE, "Zoe")),
        ("Rex is three years old", Attribute("age", "3", STATE, "Rex")),
        ("Pixel is six months old", Attribute("age", "6 months", STATE, "Pixel")),
        ("my 5-year-old son Max loves it", Attribute("age", "5", STATE, "Max")),
        ("I am forty", Attribute("age", "40", STATE, "I")),
        ("I turned thirty-four yesterday", Attribute("age", "34", STATE, "I")),
        ("Pixel's birthday is 3 May", Attribute("birthday", "3 May", STATE, "Pixel")),
        ("My son Max's birthday is on 7 July", Attribute("birthday", "7 July", STATE, "Max")),
        ("It turned out I'm not allergic to nuts", Attribute("allergy", None, CONSTRAINT, "I")),
        ("I have a nut allergy", Attribute("allergy", "nut", CONSTRAINT, "I")),
        ("I outgrew my nut allergy", Attribute("allergy", None, CONSTRAINT, "I")),
        ("I don't drive my Volvo any more", Attribute("car", None, TRANSITION, "I")),
        ("I sold my old car", Attribute("car", None, TRANSITION, "I")),
        ("I'm no longer married", Attribute("marital status", None, TRANSITION, "I")),
        ("I no longer have a dog", Attribute("dog", None, TRANSITION, "I")),
        ("We gave away our old cat", Attribute("cat", None, TRANSITION, "I")),
        ("I'm not vegan any more", Attribute("diet", None, TRANSITION, "I")),
        ("My puppy is called Rex", Attribute("dog", "Rex", STATE, "I")),
        ("My boyfriend is Tom", Attribute("partner", "Tom", STATE, "I")),
        ("Meet Tom, my new boyfriend", Attribute("partner", "Tom", STATE, "I")),
        ("you live in Davis", Attribute("residence", "Davis", STATE, "you")),
        ("我住在北京", Attribute("residence", "北京", STATE, "I")),
        ("我去年搬到上海了", Attribute("residence", "上海", TRANSITION, "I")),
        ("我以前住在广州", Attribute("residence", "广州", STATE, "I", past=True)),
        ("我在蓝鲸公司工作", Attribute("employer", "蓝鲸公司", STATE, "I")),
        ("我叫小明", Attribute("name", "小明", STATE, "I")),
        ("我对花生过敏", Attribute("allergy", "花生", CONSTRAINT, "I")),
        ("मैं दिल्ली में रहता हूँ", Attribute("residence", "दिल्ली", STATE, "I")),
        ("मैं टाटा में काम करती हूँ", Attribute("employer", "टाटा", STATE, "I")),
        ("मेरा नाम राम है", Attribute("name", "राम", STATE, "I")),
    ],
)
def test_sure_patterns(clause: str, expected: Attribute) -> None:
    """A sure pattern gives subject, attribute, value and kind; the end of a state has no value."""
    assert attribute_of(clause) == expected


def test_every_pattern_may_be_looked_for() -> None:
    """Each attribute has words by which its patterns are found."""
    assert {pattern.name for pattern in ENGLISH} == _HOOKS.keys()


@pytest.mark.parametrize(
    "clause",
    [
        "We met at the gate",
        "I moved to a new flat",
        "I left Rome in July",
        "I left Anna",
        "I quit Twitter",
        "I quit smoking",
        "I live in the woods",
        "What lives in Davis",
        "My sister lives in Rome",
        "he lives in Davis",
        "my wife is tired",
        "my doctor is late",
        "I left Oslo yesterday",
        "I fired a clay pot",
        "Ana fired up the grill",
        "I got fired up about it",
        "I retired the old laptop",
        "I resigned myself to it",
        "We moved to Kubernetes last year",
        "My boss is Swedish",
        "our coach is German",
        "my team: we lost",
        "I fired my accountant",
        "the meeting broke up",
        "I changed my mind to be sure",
        "My car is making noises",
        "I live for music",
        "I have lived in Rome",
        "I nearly died laughing",
        "The battery died",
        "Practice is six",
        "i started at nine",
        "I started at Pier 39 and walked",
        "Dinner is at seven",
        "I'm one of them",
        "Ana turned two corners",
        "Ana turned 5 pages",
        "My wife's birthday is in August",
        "I no longer have a Lumo account",
        "I don't have a cat",
        "My sister is Swedish",
        "Hello Ana, my dear",
        "I work at night",
        "他住在北京",
        "",
    ],
)
def test_what_is_not_sure(clause: str) -> None:
    """No attribute without a sure subject and value."""
    assert attribute_of(clause) is None


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("My husband Tom moved to Oslo", Naming("husband", Attribute("partner", "Tom", STATE, "I"))),
        ("our cat Pixel turned two", Naming("cat", Attribute("cat", "Pixel", STATE, "I"))),
        ("My husband moved to Oslo", None),
        ("Tom moved to Oslo", None),
    ],
)
def test_who_it_is_that_a_clause_tells_of(clause: str, expected: Naming | None) -> None:
    """Said by the way, with the name."""
    assert naming_of(clause) == expected


@given(st.text(st.characters(codec=None), max_size=600))
def test_any_clause(clause: str) -> None:
    """No clause raises; a value is never blank."""
    found = attribute_of(clause)
    assert found is None or found.value is None or found.value.strip()


def test_every_pattern_can_be_compiled() -> None:
    """Each is compiled when it is first searched for, so that a fault in one would show late."""
    assert all("who" in pattern.pattern.groupindex for pattern in (*ENGLISH, *OTHER, NAMING))
