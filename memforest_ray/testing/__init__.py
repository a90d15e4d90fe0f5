"""The test kit: what stands in for time, chance, models and stores. Nothing shipped imports it."""
