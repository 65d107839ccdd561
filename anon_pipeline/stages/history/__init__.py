"""What was published before: the memory of releases, noise that stays, releases judged together."""
