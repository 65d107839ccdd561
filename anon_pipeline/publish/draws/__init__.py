"""Draws of noise: their keys, how a release comes by one, and what is checked before a draw costs its ε."""
