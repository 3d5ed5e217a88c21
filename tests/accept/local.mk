# The program as a whole, against Python's own reading of the same captures.
dist_check_SCRIPTS += \
	tests/accept/blocks.py \
	tests/accept/categories.py \
	tests/accept/chain.py \
	tests/accept/check.py \
	tests/accept/database.py \
	tests/accept/diff.py \
	tests/accept/dump.py \
	tests/accept/excerpts.py \
	tests/accept/export.py \
	tests/accept/flame.py \
	tests/accept/history.py \
	tests/accept/hostile.py \
	tests/accept/layers.py \
	tests/accept/newest.py \
	tests/accept/page.py \
	tests/accept/pprof.py \
	tests/accept/printed.py \
	tests/accept/profiles.py \
	tests/accept/replay.py \
	tests/accept/replay_cuts.py \
	tests/accept/joined.py \
	tests/accept/steps.py \
	tests/accept/timelines.py \
	tests/accept/titles.py \
	tests/accept/variants.py \
	tests/accept/windows.py

EXTRA_DIST += \
	tests/accept/browser.py \
	tests/accept/captures.py \
	tests/accept/inert.py \
	tests/accept/inert_json.py \
	tests/accept/page_file.py \
	tests/accept/page_look.py \
	tests/accept/programs.py \
	tests/accept/reference.py \
	tests/accept/specimens.py
