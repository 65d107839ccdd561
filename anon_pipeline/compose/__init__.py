"""Releases judged together: what was published, re-used noise, intersections. Nothing is imported here."""
