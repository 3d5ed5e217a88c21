# The program as a whole, against Python's own reading of the same captures.
dist_check_SCRIPTS += tests/accept/hostile.py tests/accept/variants.py tests/accept/windows.py
EXTRA_DIST += tests/accept/captures.py tests/accept/reference.py
