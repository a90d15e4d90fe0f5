"""A simulated model server: the offline backend behind the door of a real one, with its latencies and its faults."""
