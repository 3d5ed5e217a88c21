"""Recording labelled captures; see ../record_labelled.py."""
