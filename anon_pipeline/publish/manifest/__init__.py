"""The manifest: what stands in it, in which shape, with which promises, signed by whom."""
