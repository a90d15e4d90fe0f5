"""Answering: an answer from hits, in their own words or a model's, or that nothing is remembered of it."""
