"""Knowledge banks: markdown files of entries, edited without losing a byte."""
