"""What makes the lattice search faster, and changes nothing that it finds.

The search asks each of three questions in one place, and answers it without this folder as well
(`search.prepare_search` with ``fast=False``; the tests compare both):

* The classes of a node: `tables.node_table` takes a table kept before, or a cube. Plain:
  `roll_up.roll_up_table` from all records.
* Which node is counted next: `order.queue_nodes` asks a heap of older promises. Plain: `optimal.by_promise`
  compares the promises of all nodes.
* The nodes that are left at the end: `sweep.sweep_nodes` counts all in one walk. Plain: one after the other.

Belongs here: caches, layouts and loops that save time. Does not belong here: bounds, losses, and what a count
says about other nodes.
"""
