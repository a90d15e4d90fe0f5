"""Phrases that name a time, by language: patterns, and how what they match becomes a period."""
