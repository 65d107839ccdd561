"""A release measured: its evidence, and one pure function per limit."""
