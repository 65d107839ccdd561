"""The stages from personal data to a table that can be judged: see `pipeline`.

The folder `contracts` says what the table of each stage must look like.
"""
