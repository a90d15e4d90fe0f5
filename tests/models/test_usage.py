"""What calls have cost, added up."""

from memforest_ray.models.usage import Usage


def test_usage_adds_up() -> None:
    """Each number by itself; of nothing it is nothing."""
    one, other = Usage(1, 0, 10, 4, 2), Usage(3, 2, 100, 40, 20)
    assert one + other == Usage.total([one, other]) == Usage(4, 2, 110, 44, 22)
    assert Usage.total([]) == Usage()


def test_usage_as_json() -> None:
    """Every number under its name: a stored receipt is read back from them."""
    usage = Usage(3, 2, 100, 40, 20)
    assert Usage(**usage.to_json()) == usage
