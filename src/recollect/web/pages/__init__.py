"""One module for each page of `recollect ui`, with its rows of method, path and handler."""
