"""Rows, vectors and words: how items are found by likeness."""
