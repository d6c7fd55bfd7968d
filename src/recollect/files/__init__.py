"""Read and write every kind of file, whole or not at all. What files mean together is decided above."""
