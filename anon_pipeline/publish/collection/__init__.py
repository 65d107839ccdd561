"""Several releases in one folder as a collection: one signed document and one page about all of them."""
