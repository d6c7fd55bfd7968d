"""The resident: a background process with an open store and a loaded model. Client, server and answers."""
