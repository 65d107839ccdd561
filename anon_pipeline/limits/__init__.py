"""The limits of a release: what each one demands, how it is judged, and what is said of it."""
