"""A release together with its originals, and what can be measured on them."""
