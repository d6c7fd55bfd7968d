"""Share lessons with other people: join a server, send and pull lines, review what arrives."""
