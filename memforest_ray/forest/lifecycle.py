"""The lifecycle of a forest: what each errand makes of a version."""

from dataclasses import replace

from memforest_ray.commit.version import Version
from memforest_ray.forest.corrections import corrected
from memforest_ray.forest.dialogue import Dialogue
from memforest_ray.forest.effects import Steps
from memforest_ray.forest.errands import Correct, Corrected, Errand, Merge
from memforest_ray.forest.merging import merge
from memforest_ray.forest.renewing import rebuild, rescene, resummarise
from memforest_ray.forest.work import Work, Written
from memforest_ray.forest.writing import rework

__all__ = ["steps_of"]

_RENEWALS = {"resummarise": resummarise, "rescene": rescene, "rebuild": rebuild}


def steps_of(version: Version, write: Errand, source: Version | None, model: str) -> Steps[Written]:
    """The steps of an errand; `source` is what a merge takes over. Raises NotFound."""
    if isinstance(write, Merge):
        assert source is not None, "the source of a merge is read before its turn"
        return merge(version, write, source, model)
    if isinstance(write, Correct):
        return _correct(version, write, model)
    return _RENEWALS[write.what](version, write, model)


def _correct(version: Version, write: Correct, model: str) -> Steps[Written]:
    """Put another statement in the place of a fact. Raises NotFound, InvalidInput."""
    edit, atom = corrected(version, write)
    fact = version.find_fact(write.fact)
    assert fact is not None
    after = yield from rework(Work(version, Dialogue(version)), {}, model, first=edit)
    now = after.version.find_fact(atom)
    assert now is not None
    turns = tuple(version.sessions[session].turn_id(turn) for session, turn in fact.turns)
    return replace(after, answers=(Corrected(version.number, write.op_id, fact.id, now.id, turns),))
