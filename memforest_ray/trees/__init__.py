"""routed records -> tree edits -> dirty nodes -> summaries."""
