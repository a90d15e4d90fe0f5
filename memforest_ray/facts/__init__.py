"""session -> cells -> candidates -> facts."""
