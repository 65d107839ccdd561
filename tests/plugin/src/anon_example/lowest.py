"""A full-domain recoder: the first node that keeps all limits, from the lowest total level up."""

from anon_pipeline.recode.fulldomain.search import is_feasible, no_node_error, score


def lowest_node(search):
    """Return the node, and that no others were counted elsewhere."""
    nodes = search.nodes
    for index in sorted(range(nodes.size), key=lambda index: (sum(nodes.levels(index)), index)):
        if is_feasible(search, index):
            return score(search, index), 0
    raise no_node_error(search)
