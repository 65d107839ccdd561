"""One module per version of the tables. A version that was released is never edited."""
