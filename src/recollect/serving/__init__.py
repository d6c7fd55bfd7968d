"""What servers of any protocol share: the end of the process, bounded connections, and a listening socket."""
