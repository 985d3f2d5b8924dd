"""The command ``spheremix``."""
