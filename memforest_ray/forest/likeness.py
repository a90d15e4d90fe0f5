"""Likeness: the vectors of statements, and the pairs of them that a judge is asked about.

Every atom has the vector of its least mention. A fact's stands in the index; where somebody judges, those of atoms
that are joined to a lesser one, or withheld, are kept too (`Version.echoes`): which pairs are found alike must not
depend on the order in which they came.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from immutables import Map

from memforest_ray.commit.version import Vector
from memforest_ray.facts.canonical import Facts, FactsEdit
from memforest_ray.facts.verdicts import Judgement, Pair, PairKey, Question, Verdict, pair_key
from memforest_ray.forest.comparing import Alike, alike_among, compare, stored_alike
from memforest_ray.forest.effects import Embed, Judge, JudgeFrom, Steps
from memforest_ray.forest.work import Work
from memforest_ray.ids import AtomId, FactId
from memforest_ray.index.rows import cell_embedding_text, mention_embedding_text
from memforest_ray.models.usage import Usage

__all__ = ["echoes", "embed", "embed_texts", "judge"]


def embed(work: Work) -> Steps[None]:
    """Vectors of what is shown anew, facts and cells, each distinct text once; what stayed keeps its vector."""
    texts = _unknown(work, (fact.atoms[0] for fact in work.facts.added))
    for cell in work.spoken:
        if cell.id not in work.vectors:
            texts[cell.id] = cell_embedding_text(cell, work.dialogue.sessions[cell.session_id])
    yield from embed_texts(work, texts)


def embed_texts(work: Work, texts: Mapping[str, str]) -> Steps[None]:
    """Vectors under the names of `texts`."""
    known = work.takeover.vectors
    distinct = tuple(dict.fromkeys(text for text in texts.values() if text not in known))
    by_text: dict[str, Vector] = {}
    if distinct:
        rows = yield from Embed(distinct)
        by_text = dict(zip(distinct, rows, strict=True))
    by_text.update((text, known[text]) for text in texts.values() if text in known)
    work.vectors.update({name: by_text[text] for name, text in texts.items()})


def _unknown(work: Work, atoms: Iterable[AtomId]) -> dict[str, str]:
    """Texts of those atoms that have no vector yet; those that had one and say the same take it over."""
    texts: dict[str, str] = {}
    before, now = work.version.facts.atoms, work.facts.facts.atoms
    for atom in atoms:
        if atom in work.vectors:
            continue
        text = mention_embedding_text(now[atom].mentions[0])
        old = before.get(atom)
        known = None
        if old is not None and mention_embedding_text(old.mentions[0]) == text:
            known = work.version.atom_vector(atom)
        if known is None:
            texts[atom] = text
        else:
            work.vectors[atom] = known
    return texts


def judge(work: Work) -> Steps[None]:
    """One wave of verdicts on what is new; what is over the limit, or was not answered, stays pending.

    What an atom is alike to changes with its least mention: then what is known of its pairs is kept where they still
    are alike. So which pairs are known in the end follows from what is there, and not from how it came.
    """
    threshold = yield from JudgeFrom()
    if threshold is None:
        return
    work.judging = True
    edit = work.facts
    changed = _changed(work)
    yield from embed_texts(work, _unknown(work, (*edit.fresh, *changed)))
    alike = _neighbours(work, (*edit.fresh, *changed), threshold)
    work.facts = edit = _compared_anew(edit, changed, alike)
    fresh = tuple(dict.fromkeys((*edit.fresh, *changed)))
    wave = edit.facts.pairs_to_judge(fresh, lambda atom: alike.get(atom, {}).items())
    asked, waiting = _shared_out(wave.ask, frozenset(fresh), draining=work.draining)
    answers: Sequence[Judgement] = ()
    if asked:
        answers = yield from Judge(tuple(_question(edit.facts, pair) for pair in asked))
    work.judged = Usage.total(answer.usage for answer in answers)
    told = list(zip(asked, answers, strict=True))
    verdicts = [Verdict(pair, answer.equivalent) for pair, answer in told if answer.equivalent is not None]
    unanswered = [pair for pair, answer in told if answer.equivalent is None]
    pending = [pair for pair in (*wave.pending, *waiting, *unanswered) if pair.key not in edit.facts.pending]
    if verdicts or pending:
        work.facts = edit.then(edit.facts.with_verdicts(verdicts, pending))
    yield from embed(work)


def _changed(work: Work) -> tuple[AtomId, ...]:
    """Atoms that were there and have another least mention now."""
    before, now = work.version.facts.atoms, work.facts.facts.atoms
    kept = (atom for atom in work.facts.touched if atom in before and atom in now)
    return tuple(atom for atom in kept if before[atom].mentions[0] != now[atom].mentions[0])


def _compared_anew(edit: FactsEdit, changed: Iterable[AtomId], alike: Alike) -> FactsEdit:
    """What is known of the pairs of `changed` atoms, where they are alike still, under their new likeness."""
    evidence = edit.facts.evidence
    verdicts: list[Verdict] = []
    pending: list[Pair] = []
    parted: list[PairKey] = []
    for atom in changed:
        for other, link in evidence.links.get(atom, {}).items():
            cosine = alike[atom].get(other)
            if cosine is None:
                parted.append(pair_key(atom, other))
            elif cosine != link.similarity:
                pair = evidence.pair(pair_key(atom, other), cosine)
                if link.equivalent is None:
                    pending.append(pair)
                else:
                    verdicts.append(Verdict(pair, link.equivalent))
    if not (verdicts or pending or parted):
        return edit
    return edit.then(edit.facts.with_verdicts(verdicts, pending, parted))


def echoes(work: Work) -> Map[AtomId, bytes]:
    """What `Version.echoes` is after `work`."""
    atoms, shown = work.facts.facts.atoms, work.facts.facts.shown
    kept = work.version.echoes.mutate()
    for atom in work.moved:
        if atom in kept and (atom not in atoms or FactId(atom) in shown):
            del kept[atom]
    if work.judging:
        led = {AtomId(fact.id): work.version.vector(fact.id) for fact in work.facts.removed}
        told = {AtomId(name): vector for name, vector in work.vectors.items()}
        kept.update(
            (atom, vector.tobytes())
            for atom, vector in {**led, **told}.items()
            if atom in atoms and FactId(atom) not in shown
        )
    return kept.finish()


def _shared_out(pairs: Iterable[Pair], fresh: frozenset[AtomId], *, draining: bool) -> tuple[list[Pair], list[Pair]]:
    """Pairs to ask about now, and those that wait: what earlier writes left is asked about beside the lane."""
    now: list[Pair] = []
    later: list[Pair] = []
    for pair in pairs:
        (now if draining or pair.first in fresh or pair.second in fresh else later).append(pair)
    return now, later


def _question(facts: Facts, pair: Pair) -> Question:
    return Question(pair, facts.atoms[pair.first].mentions[0], facts.atoms[pair.second].mentions[0])


def _neighbours(work: Work, atoms: Iterable[AtomId], threshold: float) -> Alike:
    """What is as alike to each of `atoms` as `threshold`, of all that have a vector."""
    asked = {atom: work.vectors[atom] for atom in atoms}
    found: dict[AtomId, dict[AtomId, float]] = {atom: {} for atom in asked}
    if not asked:
        return found
    shelf = work.version.index.facts
    work.compared = compare(shelf, asked.values(), threshold, work.compared_before)
    for atom, other, cosine in stored_alike(shelf, work.compared, asked):
        if other not in work.vectors:  # what this write embedded anew stands among the told
            found[atom][other] = cosine
    for atom, other, cosine in alike_among(asked, _told(work), threshold):
        found[atom][other] = cosine
    return found


def _told(work: Work) -> dict[AtomId, Vector]:
    """Atoms whose vectors stand beside the index: those of this write, joined ones and withheld ones."""
    atoms = work.facts.facts.atoms
    told = {name: np.frombuffer(raw, np.float16) for name, raw in work.version.echoes.items() if name in atoms}
    told.update((AtomId(name), vector) for name, vector in work.vectors.items() if AtomId(name) in atoms)
    return told
