"""What is embedded of a version: the text of every vector that is stored for it."""

from collections.abc import Iterable

from memforest_ray.commit.version import Version
from memforest_ray.ids import AtomId
from memforest_ray.index.rows import cell_embedding_text, fact_embedding_text, mention_embedding_text

__all__ = ["embedding_texts"]


def embedding_texts(version: Version, stored: Iterable[str] = ()) -> dict[str, str]:
    """By the ids under which the vectors stand: facts, cells, and summaries that a model wrote.

    Of statements that no fact is shown by only those whose vectors are `stored`: a judge is asked about them.
    """
    texts: dict[str, str] = {fact.id: fact_embedding_text(fact) for fact in version.facts}
    for cell in version.cells.values():
        if version.spoken(cell):
            texts[cell.id] = cell_embedding_text(cell, version.sessions[cell.session_id])
    for node, summary in version.summaries.items():
        if summary.source == "model":
            texts[node] = summary.text
    for name in stored:
        atom = version.facts.atoms.get(AtomId(name))
        if atom is not None and name not in texts:
            texts[name] = mention_embedding_text(atom.mentions[0])
    return texts
