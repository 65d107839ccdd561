"""What everything else stands on: errors, values, classes, digests, files, compiled loops; no policy."""
