"""What shape the table of each stage must have, judged by our own rules and by Pandera.
Decisions: docs/adr/0036-the-contract-proves-that-it-is-judged.md.
"""
