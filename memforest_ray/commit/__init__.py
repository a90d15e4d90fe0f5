"""Versions of a forest, and the log that makes them durable."""
