"""The components of the offline backend, made from settings; each is imported only in the pool that needs it."""

# ruff: noqa: PLC0415 - the point of this file
from memforest_ray.config import Settings
from memforest_ray.facts.candidates import Extractor
from memforest_ray.models.embedder import Embedder
from memforest_ray.trees.summaries import Summarizer

__all__ = ["embedder", "extractor", "summarizer"]


def extractor(_: Settings) -> Extractor:
    """Extraction by rules."""
    from memforest_ray.facts.rules import RuleExtractor

    return RuleExtractor()


def summarizer(_: Settings) -> Summarizer:
    """Summaries by selection."""
    from memforest_ray.trees.summaries import SelectionSummarizer

    return SelectionSummarizer()


def embedder(settings: Settings) -> Embedder:
    """The shipped sentence encoder, or the one in `embed_folder`."""
    from memforest_ray.models.offline import OnnxEmbedder

    return OnnxEmbedder(settings.embed_folder, threads=settings.embed_threads)
