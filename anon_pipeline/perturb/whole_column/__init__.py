"""Mechanisms that change a column as a whole: what is released for one record depends on the others, too."""
