"""Settings: what is refused, and in which words."""

import os

import pytest

import memforest_ray as mf
from memforest_ray.config import load_settings


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the machine that runs the tests."""
    for name in [name for name in os.environ if name.startswith(("MEMFOREST_", "OPENAI_"))]:
        monkeypatch.delenv(name)


def test_a_misspelt_argument_is_corrected() -> None:
    """By the setting that it is most like; of an endpoint's by one of those."""
    with pytest.raises(mf.InvalidInput, match="unknown setting 'stor'; nothing was done; did you mean 'store'"):
        mf.connect(stor="memory://")
    with pytest.raises(mf.InvalidInput, match=r"unknown setting 'llm_roles.judge.url'; .*did you mean 'urls'"):
        load_settings(llm_roles={"judge": {"url": "http://c/v1"}})
    with pytest.raises(mf.InvalidInput, match="unknown setting 'xyz'; nothing was done; known: address, backend"):
        load_settings(xyz=1)


@pytest.mark.parametrize("url", ["localhost:9", "localhost", "ftp://host/v1", "http://", "10.0.0.1:8000/v1"])
def test_a_server_s_address_has_its_protocol(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Wherever it is given; what it should look like is said before anything is asked."""
    told = f"{url!r} must begin with http:// or https://, as in 'http://localhost:8000/v1'"
    for given in ({"llm_urls": url}, {"embed_urls": [url]}, {"llm_roles": {"judge": {"urls": [url]}}}):
        with pytest.raises(mf.InvalidInput) as caught:
            load_settings(**given)
        assert told in caught.value.message
        assert "Value error" not in caught.value.message
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    with pytest.raises(mf.InvalidInput, match="must begin with http"):
        load_settings()
    monkeypatch.setenv("OPENAI_BASE_URL", "https://one/v1, http://two:8000")
    assert load_settings().llm_urls == ("https://one/v1", "http://two:8000")
