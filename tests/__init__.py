"""Tests of anon-pipeline: one file for each module of the package, at its place."""
