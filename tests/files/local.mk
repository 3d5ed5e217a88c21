# The program on files that are hard to take: README says why each is kept; limits.py makes the rest.
dist_check_SCRIPTS += tests/files/limits.py
EXTRA_DIST += tests/files/README tests/files/make.py tests/files/pickles.py
EXTRA_DIST += \
	tests/files/bad-block-overflow.pickle \
	tests/files/bad-claim-2-63.pickle \
	tests/files/bad-claim-2g.pickle \
	tests/files/bad-claim-long.pickle \
	tests/files/bad-claim-negative-long.pickle \
	tests/files/bad-control.json \
	tests/files/bad-cut.json \
	tests/files/bad-cut.pickle \
	tests/files/bad-cut.pickle.gz \
	tests/files/bad-damaged.pickle.gz \
	tests/files/bad-empty \
	tests/files/bad-ends-elsewhere.pickle \
	tests/files/bad-escape.json \
	tests/files/bad-garbage.json \
	tests/files/bad-garbage.pickle.gz \
	tests/files/bad-literal.json \
	tests/files/bad-memo-digits.pickle \
	tests/files/bad-memo-hole.pickle \
	tests/files/bad-memo-index.pickle \
	tests/files/bad-negative-size.pickle \
	tests/files/bad-no-mark.pickle \
	tests/files/bad-not-a-snapshot.pickle \
	tests/files/bad-number.json \
	tests/files/bad-opcode.pickle \
	tests/files/bad-protocol.pickle \
	tests/files/bad-surrogate-digits.json \
	tests/files/bad-second-snapshot.pickle \
	tests/files/bad-trace-twice.pickle \
	tests/files/bad-twice-gzipped.pickle.gz \
	tests/files/bad-underflow.pickle \
	tests/files/good-callables.pickle \
	tests/files/good-claim-frame.pickle \
	tests/files/good-header.pickle.gz \
	tests/files/good-long-zero.pickle \
	tests/files/good-members.pickle.gz \
	tests/files/good-memo-again.pickle \
	tests/files/good-minimal.json \
	tests/files/good-minimal.pickle \
	tests/files/good-no-segments.pickle \
	tests/files/good-protocol-0.pickle \
	tests/files/good-shared-blocks.pickle \
	tests/files/good-shared-events.pickle \
	tests/files/good-stored.json.gz \
	tests/files/good-user-metadata-laughs.pickle \
	tests/files/limit-annotation-twice.pickle \
	tests/files/limit-block-twice.pickle \
	tests/files/limit-blocks-twice.pickle \
	tests/files/limit-device.json \
	tests/files/limit-nesting.json \
	tests/files/limit-number.json \
	tests/files/limit-segment-twice.pickle \
	tests/files/limit-settings-laughs.pickle
