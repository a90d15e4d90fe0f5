"""Doors to bytes: one small protocol, and the stores behind it."""
