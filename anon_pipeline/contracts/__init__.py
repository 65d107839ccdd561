"""What shape the table of each stage must have, judged by our own rules and by Pandera."""
