// The library is what the archive holds; a target needs a source of its own.
