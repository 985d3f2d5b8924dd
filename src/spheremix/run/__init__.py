"""Runs: folders of plain files with one typed description, made, resumed and read here."""
