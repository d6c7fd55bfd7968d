"""The part of the schema that says who may speak for whom: authors of lines, consent to scopes, whose a token is."""
