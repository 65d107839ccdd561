"""Between tables and arrays: columns as codes and as grid units, noise and categories as policies say."""
