"""The site of the documentation: pages are staged in one folder, then built strictly.

Belongs here: what makes a site of `docs/` and of the pages at the top of the repository. Does not belong
here: any text of a page.
"""
