"""What Ray is told through the environment, and where on this machine our clusters keep their files.

The library reads its own variables in `memforest_ray.config`; the ones here are Ray's and the system's.
"""

import hashlib
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import memforest_actors
import memforest_ray
from memforest_ray.errors import ClusterUnavailable

__all__ = [
    "address_given",
    "auth_mode",
    "auth_mode_here",
    "head_environment",
    "prepare_driver",
    "private_folder",
    "roots",
    "state_file",
]

AUTH_MODE = "RAY_AUTH_MODE"

_QUIET = {
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else a warning at every start
    "RAY_USAGE_STATS_ENABLED": "0",  # a memory of private talk phones nobody
    "RAY_USAGE_STATS_PROMPT_ENABLED": "0",
}
_NOT_NEWS = "A worker died or was killed while executing a task|worker processes have been started on node"
"""Ray prints these on the driver's stdout whenever a process is lost (the call is made again) and whenever a node runs
more of them than four times its cores (as it is meant to: they do not count cores). Nobody needs to know.
"""

_JOIN_TRIES = "5"
"""Seconds that Ray tries a head that listens and does not answer, or refuses the token; its default is 20."""

_HEAD = {
    # Each passivation leaves a record of a dead actor in Ray's control store; the default keeps 100,000.
    "RAY_maximum_gcs_destroyed_actor_cached_count": "1000",
    "RAY_LOG_TO_DRIVER": "0",
    # Ray runs workers at 15, but lets them boot at 0: each start would hold up every call that is under way.
    "RAY_worker_niceness": "0",
}

_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
"""Not for workers, however their head was started: where our modules have no bytecode (run from a source tree, or
edited), every forest that starts would compile two hundred of them, for a quarter of a second of a core.
"""


def address_given() -> str | None:
    """The cluster that the surroundings name (a job, a pod, the user's shell)."""
    return os.environ.get("RAY_ADDRESS") or None


def auth_mode() -> str | None:
    """Ray's authentication mode, if the surroundings name one."""
    return os.environ.get(AUTH_MODE) or None


def auth_mode_here() -> str:
    """The authentication mode of a cluster that we start.

    Token authentication is on unless the user said otherwise: a cluster runs code for whoever can reach its port.
    """
    return auth_mode() or "token"


def head_environment() -> dict[str, str]:
    """The environment of a head and of all its workers."""
    given = {**os.environ, **_QUIET, **_HEAD, AUTH_MODE: auth_mode_here(), "PYTHONPATH": _search_path()}
    given.pop("RAY_ADDRESS", None)
    given.pop(_NO_BYTECODE, None)
    return given


def prepare_driver(mode: str | None) -> None:
    """Set, in this process, what must stand before Ray connects; `mode` is the cluster's authentication mode.

    Head and driver must agree on it and their defaults do not: without a mode, token if this user has a token (a
    cluster without authentication does not mind).
    """
    own = {"RAY_DEDUP_LOGS_SKIP_REGEX": _NOT_NEWS, "RAY_NUM_REDIS_GET_RETRIES": _JOIN_TRIES}
    for name, value in {**_QUIET, **own}.items():
        os.environ.setdefault(name, value)
    chosen = mode or auth_mode() or ("token" if _has_token() else "disabled")
    if chosen != auth_mode():
        os.environ[AUTH_MODE] = chosen
        _reread()


def _has_token() -> bool:
    import ray._raylet as raylet  # noqa: PLC0415 - Ray is imported only when it is needed

    return bool(vars(raylet)["AuthenticationTokenLoader"].instance().has_token(ignore_auth_mode=True))


def _reread() -> None:
    # Ray reads its variables once, at import; this is what it calls itself when it changes one.
    import ray._raylet as raylet  # noqa: PLC0415 - as above

    vars(raylet)["Config"].initialize("")  # compiled, without stubs


def _search_path() -> str:
    """Where workers find this package, whatever folder they start in: installed or not, they run the same code."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join(dict.fromkeys([*roots(), *(str(Path(path).resolve()) for path in given if path)]))


def roots() -> list[str]:
    """Folders from which our packages are imported."""
    packages = (memforest_ray, memforest_actors)
    return [str(Path(str(package.__file__)).resolve().parent.parent) for package in packages]


def state_file() -> Path:
    """Where this installation's warm cluster is noted. Another environment or another code has another."""
    identity = [sys.prefix, *roots(), version("ray"), sys.version]
    name = hashlib.sha256("\n".join(identity).encode()).hexdigest()[:12]
    return private_folder() / f"warm-{name}.json"


def private_folder() -> Path:
    """A folder of this user's alone, with a path short enough for sockets below it (107 characters in all).

    Raises ClusterUnavailable if somebody else has taken the name.
    """
    shared = Path("/tmp") if os.access("/tmp", os.W_OK | os.X_OK) else Path(tempfile.gettempdir())
    folder = shared / f"memforest-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        owner = folder.lstat().st_uid
    except OSError as error:
        raise ClusterUnavailable(f"{folder} cannot be made ({error}); nothing was started") from error
    if owner != os.getuid() or folder.is_symlink():
        raise ClusterUnavailable(f"{folder} belongs to another account; nothing was started; remove it")
    return folder
