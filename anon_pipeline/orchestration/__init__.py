"""Dagster: the component, its assets, checks, IO manager, resources, jobs and schedule."""
