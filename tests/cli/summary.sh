#!/bin/sh
# Summaries in place of captures: check, diff and plot.
. "${srcdir:=.}/tests/cli/lib.sh"

run analyze --summary leak.summary samples/leak.pickle.gz
exits 0
run analyze --summary loop.summary samples/train-loop.pickle.gz
exits 0
mkdir run
for rank in 0 1 2; do
    cp samples/train-loop.pickle.gz "run/rank_$rank.pickle.gz"
done
cp samples/leak.pickle.gz run/rank_3.pickle.gz
run merge -o run.summary run
exits 0

# check: the figures are those of the capture.
for limits in '--max-peak 300MiB' '--max-reserved 1MiB' '--max-category activation=1MiB' --no-oom; do
    for sample in leak.pickle.gz train-loop.pickle.gz; do
        name=${sample%.pickle.gz}
        name=${name#train-}
        run check --format json $limits "samples/$sample"
        sed 's/.*"value":\([-0-9]*\).*/\1/' .run/out >value.txt
        run check --format json $limits "$name.summary"
        sed 's/.*"value":\([-0-9]*\).*/\1/' .run/out >.run/other
        check "$limits of $name" cmp value.txt .run/other
    done
done
run check --format json --max-growth 0 leak.summary
out_has '"value":48483848'
run check --max-growth 0 loop.summary
exits 0
run analyze --summary few.summary --range :600 samples/train-loop.pickle.gz
run check --max-growth 0 few.summary
exits 2
err_has 'the file holds fewer than 3 complete steps'
run check --max-peak 300MiB --max-category activation=1GiB leak.summary
exits 1
golden check-summary.txt
# Of several captures, the highest counts.
run check --max-peak 300MiB run.summary
exits 1
out_has '425.15 MiB'
out_has 'max-peak is that of rank 3, the highest of 4'
out_has 'memsnap ranks run.summary'
# What a summary does not tell is not judged.
run check --max-site 'model.py:*=1GiB' leak.summary
exits 2
err 'memsnap: leak.summary: cannot check max-site model.py:*: a summary does not tell this; check the capture itself'
run check --max-peak 1GiB --no-leaks leak.summary
exits 0
out_has 'no-leaks: not judged: a summary does not tell this'
run check --at end --max-peak 1GiB leak.summary
exits 2
err_has '--at does not apply to summaries'
# Baselines, in both directions.
run check --max-increase 1% --baseline loop.summary samples/leak.pickle.gz
cp .run/out increase.txt
run check --max-increase 1% --baseline samples/train-loop.pickle.gz samples/leak.pickle.gz
grep '^  max-increase' .run/out | cut -c 1-50 >whole.txt
grep '^  max-increase' increase.txt | cut -c 1-50 >.run/other
check 'the same increase' cmp whole.txt .run/other
run check --max-increase 1% --baseline samples/train-loop.pickle.gz leak.summary
out_has 'max-increase 1%'
run check --max-increase 1% --baseline leak.summary leak.summary
exits 0
run check --max-increase 1% --baseline run.summary leak.summary
exits 2
err_has 'or has other devices or ranks'

# diff: what the summaries have is compared as in captures, and the rest is said.
run diff loop.summary leak.summary
exits 0
no_err
golden diff-summary.txt
run diff --format json loop.summary leak.summary
exits 0
golden diff-summary.json
run diff --format csv loop.summary leak.summary
exits 0
cp .run/out both.csv
run diff --format csv samples/train-loop.pickle.gz leak.summary
exits 0
check 'A may be a capture' cmp both.csv .run/out
run diff --format csv loop.summary samples/leak.pickle.gz
check 'B may be a capture' cmp both.csv .run/out
run diff --format csv --by category samples/train-loop.pickle.gz samples/leak.pickle.gz
exits 0
for category in activation parameter optimizer_state; do
    figures=$(sed -n "s/^$category,\([-0-9,]*\).*/\1/p" .run/out | cut -d , -f 1-3)
    figures=$(echo "$figures" | sed 's/\(.*\),\(.*\),\(.*\)/"a_bytes":\1,"b_bytes":\2,"delta_bytes":\3/')
    run diff --format json loop.summary leak.summary
    out_has "$figures"
    run diff --format csv --by category samples/train-loop.pickle.gz samples/leak.pickle.gz
done
run diff --fail-over 1MiB loop.summary leak.summary
exits 1
run diff leak.summary leak.summary
exits 0
out_has 'No call site changed'
for option in '--at end' '--by phase' --stacks '--range 1:2'; do
    run diff $option loop.summary leak.summary
    exits 2
    one_err_line
done
run diff --device 3 loop.summary leak.summary
exits 2
err_has 'A has no device 3'
run diff run.summary leak.summary
exits 2
err 'memsnap: run.summary: the file has summaries of several captures; memsnap ranks compares them'
run diff samples/decoder.layers.json.gz leak.summary
exits 2

# plot: summaries among the files that are compared.
run plot --x time loop.summary samples/leak.pickle.gz --script s
exits 0
no_err
check 'both peaks' test "$(grep -c 'MiB' s/peaks.tsv)" -eq 2
cut -f 4 s/peaks.tsv >peaks.txt
run plot --x time samples/train-loop.pickle.gz samples/leak.pickle.gz --script s
cut -f 4 s/peaks.tsv | sed 's/train-loop.pickle.gz/loop.summary/' >.run/other
check 'the peaks of captures' cmp peaks.txt .run/other
run plot --x share loop.summary leak.summary --script s
exits 0
run plot loop.summary leak.summary --script s
exits 2
err 'memsnap: loop.summary: the summary has its curve over time: add --x time'
run plot --x time loop.summary run.summary --script s
exits 2
err_has '--kind ranks draws them'
run plot --kind flame leak.summary --script s
exits 2
err_has '--kind flame does not support summaries of captures (supported by: ranks, steps, compare)'

# merge: any order and grouping gives the same bytes. Two summaries have the same rank, and two the
# same rank and path, but other contents.
mkdir -p parts/a parts/b twice
cp samples/oom.pickle.gz parts/a/rank_4.pickle.gz
cp samples/cache.pickle.gz parts/b/rank_4.pickle.gz
cp samples/leak.pickle.gz parts/rank_5.pickle.gz
run analyze --summary twice/1.summary parts/rank_5.pickle.gz
cp samples/pinned.pickle.gz parts/rank_5.pickle.gz
run analyze --summary twice/2.summary parts/rank_5.pickle.gz
run analyze --summary 0.summary run/rank_0.pickle.gz
run analyze --summary 1.summary run/rank_1.pickle.gz
run analyze --summary 3.summary run/rank_3.pickle.gz
run analyze --summary 4a.summary parts/a
run analyze --summary 4b.summary parts/b
run merge -o whole.summary 0.summary 1.summary 3.summary 4a.summary 4b.summary twice/1.summary twice/2.summary
exits 0
run ranks --format csv whole.summary
check 'both of the same rank and path' test "$(grep -c '^5,parts/rank_5.pickle.gz,' .run/out)" -ge 2
[ -z "${PYTHON3-}" ] || check 'any grouping gives the same bytes' "$PYTHON3" - "$MEMSNAP" <<'END'
import pathlib, random, subprocess, sys
parts = [f"{name}.summary" for name in ("0", "1", "3", "4a", "4b", "twice/1", "twice/2")]
whole = pathlib.Path("whole.summary").read_bytes()
for seed in range(12):
    rng, left = random.Random(seed), list(parts)
    left += rng.choices(parts, k=rng.randrange(4))  # some of them more than once
    for step in range(100):
        rng.shuffle(left)
        count = rng.randrange(2, 5)
        name = f"merged-{seed}-{step}.summary"
        subprocess.run([sys.argv[1], "merge", "-o", name, *left[:count]], check=True)
        left = left[count:] + [name]
        if len(left) == 1:
            break
    assert pathlib.Path(left[0]).read_bytes() == whole, seed
END

# Files of version 1 have no steps. They are read, merged with others in any order, and compared with
# what they have.
head -c 26 leak.summary >version
check 'is of version 2' grep -qa "memsnap.summary/2\$" version
gzip -dc samples/pipeline.summary.gz >older.summary
head -c 26 older.summary >version
check 'is of version 1' grep -qa "memsnap.summary/1\$" version
run merge -o one.summary older.summary leak.summary
exits 0
run merge -o other.summary leak.summary older.summary
check 'has the same bytes' cmp one.summary other.summary
run merge -o again.summary one.summary older.summary
check 'has the same bytes' cmp one.summary again.summary
run ranks older.summary
exits 0
cp .run/out older.txt
run merge -o newer.summary older.summary
run ranks newer.summary
check 'tells the same' cmp older.txt .run/out

# Numbers at the ends of names are ranks if they look like ranks, whatever the order of the files.
mkdir models
cp samples/leak.pickle.gz models/resnet-50.pickle.gz
cp samples/train-loop.pickle.gz models/resnet-152.pickle.gz
run ranks --format csv models
exits 0
err_has 'models/resnet-152.pickle.gz: the numbers at the ends of such names are not used as ranks, because 152 is too high for 2 captures; --rank-pattern'
check 'names the file instead' grep -q '^,models/resnet-152.pickle.gz,' .run/out
run merge -o models.summary models
run ranks --format csv models.summary
check 'names the file instead' grep -q '^,models/resnet-152.pickle.gz,' .run/out
run ranks --format csv --rank-pattern 'resnet-{RANK}' models
no_err
check 'believes the pattern' grep -q '^152,' .run/out
mv models/resnet-50.pickle.gz models/resnet-0.pickle.gz
mv models/resnet-152.pickle.gz models/resnet-8.pickle.gz
run ranks --format csv models
no_err
check 'believes what may be ranks' grep -q '^8,' .run/out

# Broken files, and files of a newer version.
head -c 2000 leak.summary >cut.summary
sed 's,memsnap.summary/2,memsnap.summary/3,' leak.summary >newer.summary
for file in cut newer; do
    for command in 'check --max-peak 1GiB' ranks 'merge -o none' 'plot --kind ranks --script none' 'diff leak.summary'; do
        run $command $file.summary
        exits 3
        one_err_line
    done
done
err_has 'newer.summary: summaries of an unknown version (expected memsnap.summary/2)'
finish
