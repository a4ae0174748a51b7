"""Laws over words: (space, *, epsilon); each file is a name of `text protect --mechanism`."""
