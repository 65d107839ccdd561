"""What stages record of their work: a record for each stage, and the rules that its fields keep."""
