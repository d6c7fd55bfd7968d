"""Check the installation and suggest fixes; `status` and `bench`. Repairs are made by the packages below."""
