#!/bin/sh
# memsnap ranks, memsnap merge, and the summaries of memsnap analyze.
. "${srcdir:=.}/tests/cli/lib.sh"

run ranks --help
exits 0
golden help-ranks.txt
run merge --help
exits 0
golden help-merge.txt

# Two stages of a pipeline; a rank of the second one keeps its outputs.
run ranks samples/pipeline.summary.gz
exits 0
no_err
golden ranks.txt
run ranks --format json samples/pipeline.summary.gz
exits 0
golden ranks.json
run ranks --format csv samples/pipeline.summary.gz
exits 0
golden ranks.csv

# Captures in folders, by the names of which ranks are known.
mkdir -p run/rank0 run/rank1
cp samples/train-loop.pickle.gz run/rank0/snapshot.pickle.gz
cp samples/train-loop.pickle.gz run/rank1/snapshot.pickle.gz
cp samples/train-loop.pickle.gz run/snapshot_rank_2.pickle.gz
cp samples/leak.pickle.gz run/rank1/cuda_alloc_rank_3.pickle.gz
cp samples/decoder.layers.json.gz run/rank2.layers.json.gz
echo hello >run/rank1/log.txt
run ranks run
exits 0
err 'memsnap: run: 2 files of other kinds left out; --verbose names them'
golden ranks-folder.txt
cp .run/out told.txt

# A summary in place of any of them, in any order and grouping, gives the same.
run analyze --summary a.summary run/rank0 run/snapshot_rank_2.pickle.gz
exits 0
no_out
no_err
run analyze --summary b.summary run/rank1
exits 0
run analyze --summary all.summary run
exits 0
run merge -o ab.summary a.summary b.summary
exits 0
no_out
run merge -o ba.summary b.summary a.summary ab.summary
exits 0
gzip -c a.summary >a.gz
run merge -o mixed.summary --jobs 1 run/rank1 a.gz
exits 0
for other in ab ba mixed; do
    check "$other is the same" cmp all.summary $other.summary
done
run merge all.summary
exits 0
check 'merges into itself' cmp all.summary .run/out
run ranks all.summary
exits 0
check 'the report is the same' cmp told.txt .run/out
run ranks --jobs 1 b.summary run/rank0 run/snapshot_rank_2.pickle.gz
check 'the report is the same' cmp told.txt .run/out
check 'is small' test "$(wc -c <all.summary)" -lt 300000

# The figures are those of the report.
run analyze --format json run/rank1/cuda_alloc_rank_3.pickle.gz
peak=$(sed 's/.*"active":{[^}]*"peak_bytes":\([0-9]*\).*/\1/' .run/out)
run ranks --format csv run
check 'the peak of rank 3' grep -q "^3,run/rank1/cuda_alloc_rank_3.pickle.gz,0,[0-9]*,$peak," .run/out

# Sorted, and what is missing or there twice.
run ranks --format csv --sort peak samples/pipeline.summary.gz
exits 0
check 'the highest first' test "$(sed -n 's/^\([0-9]\),.*/\1/p' .run/out | tr -d '\n')" = 54670123
run ranks --sort reserved --top 2 samples/pipeline.summary.gz
out_has 'Ranks with the most reserved memory'
run ranks --sort size samples/pipeline.summary.gz
exits 2
mkdir gaps
for name in rank_1 rank_4_a rank_4_b; do
    cp samples/leak.pickle.gz "gaps/$name.pickle.gz"
done
run ranks gaps
exits 0
out_has 'there are no captures of ranks 0, 2-3; rank 4 has several captures'
run ranks --format json gaps
out_has '"missing_ranks":3,"missing":[{"first":0,"last":0},{"first":2,"last":3}],"repeated_ranks":1'

# Ranks by a pattern.
mkdir gpu7
cp samples/leak.pickle.gz gpu7/snapshot_1.pickle.gz
run ranks --format csv --rank-pattern 'gpu{RANK}/' gpu7
exits 0
check 'the rank of the pattern' grep -q '^7,' .run/out
run ranks --format csv gpu7
check 'the rank of the name' grep -q '^1,' .run/out
run ranks --rank-pattern gpu gpu7
exits 2
err_has '--rank-pattern needs {RANK} once'

# A page: the name of the output tells. It has no script, and every link leads to a section.
run ranks samples/pipeline.summary.gz -o run.html
exits 0
no_out
no_err
cp run.html first.html
run ranks --format html samples/pipeline.summary.gz
exits 0
check 'the same on standard output' cmp first.html .run/out
check 'the outlier and its site' grep -q 'pipeline_stages.py:30 forward' first.html
check 'has no script' lacks '<script' first.html
check 'asks for nothing' lacks 'http:' first.html
check 'a section for each rank' test "$(grep -c '<section class="rank"' first.html)" -eq 8
[ -z "${PYTHON3-}" ] || check 'links and policy hold' "$PYTHON3" - <<'END'
import base64, hashlib, re
page = open("first.html", encoding="utf-8").read()
links, ids = set(re.findall('href="#(r[0-9]+)"', page)), set(re.findall('<section class="rank" id="(r[0-9]+)"', page))
style = re.search("<style>(.*?)</style>", page, re.S).group(1).encode()
digest = base64.b64encode(hashlib.sha256(style).digest()).decode()
assert links == ids and len(ids) == 8, (links, ids)
assert f"default-src 'none'; style-src 'sha256-{digest}'" in page
END

# A broken file is reported, and the others are compared.
printf 'broken' >run/snapshot_rank_9.pickle
head -c 3000 all.summary >cut.summary
run ranks run run/snapshot_rank_9.pickle cut.summary
exits 3
err_has 'memsnap: run/snapshot_rank_9.pickle: '
err_has 'memsnap: cut.summary: '
out_has '2 files could not be read'
run ranks --format json run/rank0 run/snapshot_rank_9.pickle
exits 3
out_has '"failed":[{"path":"run/snapshot_rank_9.pickle"'
run ranks --strict run/snapshot_rank_9.pickle run/rank0 -o none.txt
exits 3
check 'writes nothing' test ! -e none.txt
run merge -o none.summary cut.summary run/snapshot_rank_9.pickle
exits 3
check 'writes nothing' test ! -e none.summary
run merge --strict -o none.summary cut.summary all.summary
exits 3
check 'writes nothing' test ! -e none.summary
run ranks samples/decoder.layers.json.gz
exits 3
err 'memsnap: samples/decoder.layers.json.gz: expected a snapshot or summaries, not a layer trace'

# Names from files are escaped.
escape=$(printf '\033')
mkdir "run$escape[31m"
cp samples/leak.pickle.gz "run$escape[31m/x.pickle.gz"
run ranks "run$escape[31m"
exits 0
check 'no escape sequences' lacks "$escape" .run/out
mkdir 'a b'
cp samples/leak.pickle.gz 'a b/$(touch owned).pickle.gz'
run ranks 'a b'
out_has "  memsnap analyze 'a b/\$(touch owned).pickle.gz'"
run analyze --summary named.summary "run$escape[31m"
run ranks --format json named.summary
exits 0
check 'no escape sequences' lacks "$escape" .run/out

mkdir hostile
cp samples/leak.pickle.gz 'hostile/"><script>x.pickle.gz'
run ranks --format html hostile
exits 0
check 'no markup' lacks '<script' .run/out
out_has '&#60;script&#62;x.pickle.gz'

# Wrong usage.
run ranks
exits 2
err_has 'ranks: name the folder of a run, or its files'
run merge
exits 2
run analyze --summary x.summary -o y samples/leak.pickle.gz
exits 2
err_has '--summary names the output'
run analyze all.summary
exits 3
err_has "see 'memsnap ranks'"
finish
