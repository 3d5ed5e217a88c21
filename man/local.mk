dist_man_MANS = \
	man/memsnap.1 \
	man/memsnap-analyze.1 \
	man/memsnap-backends.1 \
	man/memsnap-check.1 \
	man/memsnap-convert.1 \
	man/memsnap-diff.1 \
	man/memsnap-dryrun.1 \
	man/memsnap-dump.1 \
	man/memsnap-export.1 \
	man/memsnap-flame.1 \
	man/memsnap-merge.1 \
	man/memsnap-oom.1 \
	man/memsnap-plot.1 \
	man/memsnap-ranks.1 \
	man/memsnap-replay.1 \
	man/memsnap-shard.1 \
	man/memsnap-categories.7 \
	man/memsnap-formats.7 \
	man/memsnap-numbers.7 \
	man/memsnap-record.7 \
	man/memsnap-suggest.1 \
	man/memsnap-trend.1
