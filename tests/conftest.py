"""What holds for all tests: none is timed, and a failure of a property can be repeated."""

from hypothesis import settings

settings.register_profile("memforest", deadline=None, print_blob=True)
settings.load_profile("memforest")
