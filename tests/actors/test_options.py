"""Names of actors and the table of their options."""

import pickle

from memforest_actors.options import OFFLINE, ROLES, ForestConfig, forest_name, member_name
from memforest_actors.reply import load
from memforest_ray.config import Settings
from memforest_ray.ids import UserId

SETTINGS = Settings(store="file:///a")
ANN = UserId("ann")


def test_a_name_is_a_function_of_store_settings_and_user() -> None:
    """The same forest has the same name; another store, user or setting has another."""
    same = Settings(store="file:///a", call_deadline_s=1, address="h:1", residents_max=7, log_format="json")
    assert forest_name(same, ANN) == forest_name(SETTINGS, ANN)
    others = {
        forest_name(SETTINGS, ANN),
        forest_name(SETTINGS, UserId("bob")),
        forest_name(SETTINGS.model_copy(update={"store": "file:///b"}), ANN),
        forest_name(SETTINGS.model_copy(update={"cell_turns": 3}), ANN),
    }
    assert len(others) == 4


def test_a_name_tells_nothing() -> None:
    """Any user id gives a short name of hex digits."""
    for user in ("../x", "a/1", "\ud800", "x" * 3000, "ann@example.org"):
        name = forest_name(SETTINGS, UserId(user))
        assert len(name) == 27
        assert set(name.removeprefix("uf-")) <= set("0123456789abcdef")


def test_pools_are_shared_by_stores() -> None:
    """A pool's member depends on its model and node, not on whose forest asks."""
    other = SETTINGS.model_copy(update={"store": "file:///b", "cell_turns": 3})
    assert member_name("embedder", "x:y", other, "n" * 40) == member_name("embedder", "x:y", SETTINGS, "n" * 40)
    models = {member_name("embedder", path, SETTINGS, "n") for path in ("x:y", "x:z")}
    assert len(models) == 2


def test_forests_are_not_restarted_but_pools_are() -> None:
    """A lost forest waits for its next call; a lost pool member comes back and its calls are made again."""
    forest = ROLES["user_forest"].options
    assert (forest["max_restarts"], forest["max_task_retries"], forest["lifetime"]) == (0, 0, "detached")
    for role in ("extractor", "summarizer", "embedder"):
        options = ROLES[role].options
        assert (options["max_restarts"], options["max_task_retries"]) == (-1, 2)
    assert all(role.options["num_cpus"] == 0 for role in ROLES.values())


def test_every_role_names_a_class_and_the_forest_is_named_so() -> None:
    """The table's paths exist; a forest's class can be told from its name."""
    classes = {role: load(kind.actor).__name__ for role, kind in ROLES.items()}
    assert "Forest" in classes["user_forest"]


def test_a_config_pickles() -> None:
    """What an actor is made from travels to another process."""
    config = ForestConfig("uf-1", ANN, SETTINGS, OFFLINE)
    assert pickle.loads(pickle.dumps(config)) == config
