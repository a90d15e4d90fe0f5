"""What models are told: the fixed text and the schema of each role, one file per role."""
