"""How often the watchdog is right: on runs written for it, and on labelled ones given by path."""
