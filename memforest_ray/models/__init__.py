"""Doors to models: protocols, and the backends behind them."""
