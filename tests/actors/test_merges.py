"""A merge between two actors: intents, answers and errors cross processes, and neither waits in the other's lane."""

import asyncio
from pathlib import Path

import pytest

import memforest_ray as mf
from memforest_actors.cluster import connect
from memforest_ray.config import Settings
from tests.actors.conftest import QUICK, TINY_MODELS

pytestmark = pytest.mark.ray


def _said(name: str, *texts: str) -> mf.Session:
    return mf.Session(name, [mf.Turn(text, speaker="Bob") for text in texts], time="2023-05-08")


async def test_two_actors_take_each_other_over(settings: Settings, tmp_path: Path) -> None:
    """At the same time; what is new comes with the next one, and whose it was can be forgotten."""
    own = settings.model_copy(update={"store": f"file://{tmp_path}"})
    async with mf.AsyncClient(own, connect(own, TINY_MODELS, QUICK)) as client:
        ann, ben = client.user("ann"), client.user("ben")
        await asyncio.gather(ann.ingest(_said("s1", "I live in Davis.")), ben.ingest(_said("s1", "I like tea.")))
        told, back = await asyncio.gather(ann.merge_from(ben), ben.merge_from(ann))
        assert (told.source, back.source) == ("ben", "ann")
        assert told.sessions >= 1
        with pytest.raises(mf.NotFound):
            await ann.merge_from("nobody")
        assert (await ann.merge_forecast(ben)).conflicts == ()
        await ann.forget(origin="ben")
        assert (await ann.changes(told)).sessions_removed
        assert await client.delete_user("ann") == ["ben"]
