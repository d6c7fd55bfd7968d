"""Check the installation and suggest fixes. Repairs are made by the packages below."""
