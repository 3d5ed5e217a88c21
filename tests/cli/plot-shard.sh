#!/bin/sh
# memsnap plot --kind shard, of the results of memsnap shard --format json.
. "${srcdir:=.}/tests/cli/lib.sh"
MEMSNAP_PLOTS=$(cd "$cli/../../share/plots" && pwd)
export MEMSNAP_PLOTS
trace=samples/gpt.layers.json.gz

# script FILE GOLDEN: settings and data of the picture.
script() {
    rm -rf s
    run plot "$1" --script s
    exits 0
    no_out
    no_err
    sed '/^# page.gp/,$d' s/plot.gp | cat - s/boxes.tsv s/points.tsv s/curves.tsv >.run/out
    golden "$2"
}

run shard --world 4 --gpu 350MiB --checkpointed --format json -o peaks.json $trace
exits 0
script peaks.json plot-shard.txt
run shard --gpu 1360MiB --sweep world=1..64*2 batch=1..4 --format json -o sweep.json $trace
exits 0
script sweep.json plot-shard-region.txt
# memory along the step, of ranks that differ
run shard --world 3 --parameters 300M --layers 2 --activations 4GB --gpu 8GB --curve --format json -o curves.json
exits 0
script curves.json plot-shard-curves.txt
# the report's name of ddp on one rank
run shard --gpu 1360MiB --sweep world=1 batch=1..4 --format json -o one.json $trace
exits 0
run plot one.json --script one
check 'names the plain program' grep -q 'times the batch, the plain program on 1 rank' one/plot.gp
check 'tells what ddp is' grep -q 'nothing fits; on 1 rank, ddp is the plain program' one/plot.gp
run shard --world 1 --gpu 2GiB --format json -o alone.json $trace
exits 0
run plot alone.json --script alone
check 'recommends the plain program' grep -q 'recommended is the plain program' alone/plot.gp
# of a strategy whose code stops there is nothing on the map
sed 's/"runs":true/"runs":false/g' sweep.json >stops.json
run plot stops.json --script stops
exits 0
check 'draws nothing that stops' grep -q 'nothing fits' stops/plot.gp
# numbers of ranks with the same answer share boxes
run shard --gpu 1360MiB --sweep world=1..1024 batch=1,2 --format json -o large.json $trace
exits 0
rm -rf s
run plot large.json --script s
check 'joins boxes' test "$(wc -l <s/boxes.tsv)" -lt 40

run plot --kind timeline peaks.json --script new
exits 2
err 'memsnap: peaks.json: --kind timeline does not support predictions of memsnap shard (supported by: shard)'
run plot --kind shard samples/leak.pickle.gz --script new
exits 2
err_has '--kind shard does not support an allocator snapshot'
check 'leaves no folder' test ! -e new
run analyze peaks.json
exits 3
err_has 'predictions of memsnap shard'

# wrong input
for wrong in '"name":"a;b"' '"name":""' '"name":7' '"name":"ddp","peak_bytes":-1' '"name":"ddp","checkpointed":3'; do
    printf '{"strategies":[{%s,"checkpointed":false}]}' "$wrong" >wrong.json
    run plot --kind shard wrong.json --script new
    exits 3
    one_err_line
done
for wrong in '{}' '[{"parameter_bytes":-1}]' '[{"phase":7}]' '[[]]' '[{"unit":[]}]'; do
    printf '{"strategies":[{"name":"ddp","curve":%s}]}' "$wrong" >wrong.json
    run plot --kind shard wrong.json --script new
    exits 3
    one_err_line
done
printf '{"strategies":[{"name":"ddp","rank_curves":[{"first_rank":0,"curve":[7]}]}]}' >wrong.json
run plot --kind shard wrong.json --script new
exits 3
one_err_line
{
    printf '{"strategies":[{"name":"ddp","curve":[{}'
    yes ',{}' | head -n 5000
    printf ']}]}'
} >wrong.json
run plot --kind shard wrong.json --script new
exits 4
err 'memsnap: wrong.json: more than 4096 columns of a curve'
printf '{"sweep":[{"name":"ddp","largest_batch":1}]}' >wrong.json
run plot --kind shard wrong.json --script new
exits 3
err 'memsnap: wrong.json: expected a number of ranks of at least 1'
printf '{"strategies":[],"checkpointed":0}' >wrong.json
run plot --kind shard wrong.json --script new
exits 3
err 'memsnap: wrong.json: expected predictions of memsnap shard, found no strategy'

if ! command -v gnuplot >/dev/null; then
    echo 'skipped: there is no gnuplot to draw with'
    finish
fi
run shard --gpu 1MiB --sweep world=3 batch=1 --format json -o none.json $trace # nothing fits
run shard --format json -o unknown.json $trace # no GPU
run shard --gpu 80GiB --format json -o far.json $trace
run shard --batch 0.01 --world 4 --curve --format json -o steps.json $trace
run shard --gpu 1000MiB --checkpointed --sweep world=2..16*2 batch=1..8 --format json -o both.json $trace
for file in peaks sweep large both none unknown far curves steps; do
    for format in png svg; do
        run plot $file.json --out $file.$format
        exits 0
        no_err
    done
    run plot $file.json --term dumb
    exits 0
    no_err
done
check 'names the largest batch' grep -q '>largest: at least 2 times the batch' large.svg
check 'names the unit of the peak' grep -q '>blocks.1<' steps.svg
check 'tells checkpoints apart' grep -q '>sdp + checkpoints' both.svg
check 'names the largest batch with them' grep -q '>largest: .* with checkpoints on' both.svg
check 'names one number of ranks' grep -q '>3<' none.svg
check 'names no part of a rank' sh -c '! grep -q ">[23][.][0-9]<" none.svg'
check 'says that nothing fits' grep -q '>nothing fits' none.svg
check 'says that the GPU is far above' grep -q 'far above these bars' far.svg
finish
