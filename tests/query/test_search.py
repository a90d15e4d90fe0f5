"""A question to a version: what comes first, what does not come at all, and why."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.candidates import Kind
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import EmptyReason

