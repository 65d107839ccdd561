"""A hierarchy: the first characters of a text, fewer on each level."""

import numpy as np

from anon_pipeline.hierarchy.build import code_leaves
from anon_pipeline.hierarchy.level_of_text import Seen
from anon_pipeline.hierarchy.levels import TOP


def prefix_column(column, spec, folder):
    """Code a column of texts."""

    def levels(leaves):
        cut = [np.array([text[:length] for text in leaves], object) for length in spec.prefix]
        return [leaves, *cut, np.full(len(leaves), TOP, object)]

    return code_leaves(column, levels)


def prefix_texts(name, spec, folder):
    """Recognize them: a text on a level has at most so many characters."""

    def fits(text, level):
        if level == len(spec.prefix) + 1:
            return text == TOP
        return text != TOP and (level == 0 or len(text) <= spec.prefix[level - 1])

    return Seen(len(spec.prefix) + 2, fits)
