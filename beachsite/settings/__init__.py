"""One module for each way to run: `local` (the default), `production`, `test`. All stand on `base`."""
