"""Where things are and what is set: locations, the project, its memory root, settings. No memory is read here."""
