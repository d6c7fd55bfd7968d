"""The local pages of `recollect ui`: an adapter over the same use cases as the commands."""
