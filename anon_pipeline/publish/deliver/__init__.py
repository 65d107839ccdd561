"""Destinations of releases beside their folder: object stores and databases."""
