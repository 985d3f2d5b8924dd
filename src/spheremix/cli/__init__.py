"""The command ``spheremix``: one file a command."""
