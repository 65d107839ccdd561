"""This repository's code location: the releases it makes, with its own resources."""
