"""The folder of a run: stages by key, outputs, and fitted things as files."""
