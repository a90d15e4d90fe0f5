"""Timing: what a question's words about time single out among facts, states and happenings."""
