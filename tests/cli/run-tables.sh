#!/bin/sh
# The tables of FSDP memory that MemProfiler logs, in every form in which the trackers print them.
. "${srcdir:=.}/tests/cli/lib.sh"

rule=$(printf '%080d' 0 | tr 0 -)

# A log of MemProfiler: the peak in bytes, then the modules.
log() {
    echo "Iteration 2 training_step Peak FSDP memory stats: "
    echo "$rule"
    cat "$1"
    echo "$rule"
    echo "Iteration 2 training_step Modulewise FSDP memory stats: "
    echo "$rule"
    cat "$2"
    echo "$rule"
}

cat >peak.table <<'END'
========  ===============  ============  ============  =========
Device    Sharded Param    Activation    All Gather    Total
========  ===============  ============  ============  =========
cuda:0    1048576 B        2097152 B     524288 B      3670016 B
cpu       0 B              0 B           84 B          84 B
========  ===============  ============  ============  =========
END
cat >modules.table <<'END'
Module:  Training.model
======================  ========  ===============  ============  ============  ========
State & Call            Device    Sharded Param    Activation    All Gather    Total
======================  ========  ===============  ============  ============  ========
Peak Forward # 1        cuda:0    1.0 MiB          2.0 MiB       0.5 MiB       3.5 MiB
..                      cpu       0.0 MiB          0.01 MiB      0.0 MiB       0.01 MiB
Before Pre-Forward # 1  cuda:0    1.0 MiB          0.0 MiB       0.0 MiB       1.0 MiB
After Post-Forward # 1  cuda:0    1.0 MiB          1.25 MiB      0.25 MiB      2.5 MiB
======================  ========  ===============  ============  ============  ========
Module:  Training.model.layers.0
======================  ========  ===============  ============  ============  ========
State & Call            Device    Sharded Param    Activation    All Gather    Total
======================  ========  ===============  ============  ============  ========
Peak Forward # 1        cuda:0    1.0 MiB          1.0 MiB       0.5 MiB       2.5 MiB
======================  ========  ===============  ============  ============  ========
END

# The same as lists of lines, and both with the names of the enums.
lists() {
    awk '
        function device(name, i) {
            print "Device: " name
            for (i = 0; i < kinds; i++) {
                split(titles[i], title, "/")
                print "\t" title[1] ": " $(first + 2 * i) " " $(first + 2 * i + 1)
            }
        }
        BEGIN { kinds = split("Sharded Param,Activation,All Gather,Total", list, ",")
            for (i = 1; i <= kinds; i++) titles[i - 1] = list[i] }
        /^=|^Device|^State/ { next }
        /^Module/ { if (modules++) print ""; print; next }
        /^\.\./ { first = 3; device($2); next }
        / # / { split($0, parts, " # "); print parts[1]; split(parts[2], rest, " ")
            print "# " rest[1] ":"; name = rest[2]; sub(/^.* # [0-9]+ +/, ""); first = 2; device(name); next }
        { first = 2; device($1) }' "$1"
}
enums() {
    sed -e 's/Sharded Param/_FSDPRefType.SHARDED_PARAM/; s/Activation/_FSDPRefType.ACT/' \
        -e 's/All Gather/_FSDPRefType.ALL_GATHER/; s/Peak Forward/_FSDPModState.PEAK_FW/' \
        -e 's/Before Pre-Forward/_FSDPModState.BEF_PRE_FW/; s/After Post-Forward/_FSDPModState.AFT_POST_FW/' "$1"
}
# A table has the columns of its longest cells: make room for the longer names.
wide_enums() {
    sed -e 's/^\(=*\)  /\1=============  /; s/^\(State & Call *\)  /\1               /' \
        -e 's/^\(Device  *\)Sharded/\1             Sharded/; s/^\(cuda:0 *\|cpu *\)\([0-9]\)/\1             \2/' \
        -e 's/^\([.A-Z][^=]*[^ ]  *\)\(cuda:0\|cpu\) /\1             \2 /' "$1" |
        sed -e 's/  ===============  ============  ============  /  ============================  ============================  ============================  /' \
            -e 's/Sharded Param    Activation    All Gather    /_FSDPRefType.SHARDED_PARAM    _FSDPRefType.ACT              _FSDPRefType.ALL_GATHER       /' \
            -e 's/\([0-9.]* M*i*B *\)\([0-9.]* M*i*B *\)\([0-9.]* M*i*B *\)\([0-9.]* M*i*B\)$/\1             \2                \3                \4/' \
            -e 's/^Before Pre-Forward # 1 */_FSDPModState.BEF_PRE_FW # 1         /' \
            -e 's/^After Post-Forward # 1 */_FSDPModState.AFT_POST_FW # 1        /' \
            -e 's/^Peak Forward # 1 */_FSDPModState.PEAK_FW # 1            /'
}

log peak.table modules.table >fsdp_mem_rank_3_training_step_2.log
run analyze fsdp_mem_rank_3_training_step_2.log
exits 0
no_err
golden run-tables.txt
run analyze --depth 1 fsdp_mem_rank_3_training_step_2.log
exits 0
out_has 'Training.model  '
out_has_not 'layers.0'
run analyze --depth 3 fsdp_mem_rank_3_training_step_2.log
exits 0
out_has '      0  '
run analyze --format json fsdp_mem_rank_3_training_step_2.log
exits 0
cp .run/out wanted
out_has '{"rank":3,'
out_has '"peak":{"device":"cuda:0","sharded_param_bytes":1048576,"activation_bytes":2097152,"all_gather_bytes":524288,"total_bytes":3670016}'
out_has '"name":"Training.model","peak_bytes":3670016,"forward_change_bytes":1572864,'
out_has '{"state":"peak-forward","call":1,"device":"cpu","sharded_param_bytes":0,"activation_bytes":10486,'

# Every other form says the same.
for form in lists enums; do
    "$form" peak.table >peak.other
    "$form" modules.table >modules.other
    [ $form = lists ] || { wide_enums peak.table >peak.other && wide_enums modules.table >modules.other; }
    log peak.other modules.other >fsdp_mem_rank_3_training_step_2.log
    check "is another form" grep -q '^.Activation: \|_FSDPRefType.ACT  ' fsdp_mem_rank_3_training_step_2.log
    run analyze --format json fsdp_mem_rank_3_training_step_2.log
    exits 0
    sed 's/"bytes":[0-9]*,"encoding/"bytes":0,"encoding/' .run/out >other
    sed 's/"bytes":[0-9]*,"encoding/"bytes":0,"encoding/' wanted >same
    check "is the same as $form" diff same other
done
lists peak.table >list
lists modules.table >list.modules
enums list >peak.other
enums list.modules >modules.other
log peak.other modules.other >fsdp_mem_rank_3_training_step_2.log
run analyze --format json fsdp_mem_rank_3_training_step_2.log
exits 0
sed 's/"bytes":[0-9]*,"encoding/"bytes":0,"encoding/' .run/out >other
check 'is the same as lists of enums' diff same other

# MemTracker, without a heading.
cat >tracker.txt <<'END'
========  ===========  ==========  ==========  ==========
Device    Parameter    Optstate    Gradient    Total
========  ===========  ==========  ==========  ==========
cuda:0    1024 B       2048 B      0 B         3072 B
========  ===========  ==========  ==========  ==========
END
run analyze --format json tracker.txt
exits 0
out_has '"parameter_bytes":1024,"gradient_bytes":0,"optstate_bytes":2048,"total_bytes":3072'

# Each fault names its line.
bad() {
    sed "$2" modules.table >modules.bad
    log peak.table modules.bad >fsdp_mem_rank_0_training_step_2.log
    run analyze fsdp_mem_rank_0_training_step_2.log
    exits 3
    err "memsnap: fsdp_mem_rank_0_training_step_2.log: $1"
}
bad "line 16: expected a size such as '12.5 MiB', found '-1.0 MiB'" '5s/1.0 MiB /-1.0 MiB/'
bad "line 16: expected a size such as '12.5 MiB', found 'some'" '5s/1.0 MiB/some   /'
bad "line 17: expected the unit of the sizes above, found '0.01 KiB'" '6s/0.01 MiB/0.01 KiB/'
bad "line 14: expected the name of a column, found 'Activity'" '3s/Activation/Activity  /'
bad "line 14: expected each column once, found 'Activation'" '3s/Sharded Param/Activation   /'
bad "line 16: expected a state and the number of a call, found 'Peak Forwards # 1'" '5s/Forward /Forwards /;5s/# 1 /# 1/'
bad "line 16: expected a state and the number of a call, found '..'" '5s/Peak Forward # 1/..              /'
bad "line 16: expected a size such as '12.5 MiB', found ''" '5s/3.5 MiB//'
bad "line 20: expected a state and the number of a call, found 'Module:  Training.model.'" 9d
bad "line 12: expected a table of FSDP memory, found 'Modul:  Training.model'" 's/^Module:  Training.model$/Modul:  Training.model/'
cut_at() {
    log peak.table modules.table | head -n "$1" >fsdp_mem_rank_0_training_step_2.log
    run analyze fsdp_mem_rank_0_training_step_2.log
    exits 3
    err "memsnap: fsdp_mem_rank_0_training_step_2.log: $2"
}
cut_at 16 'line 13: the table that begins here is cut off'
cut_at 20 'line 20: the log is cut off: expected a line of dashes at its end'
echo 'Peak FSDP memory stats:' >fsdp_mem_rank_x.log
run analyze fsdp_mem_rank_x.log
exits 3
err 'memsnap: fsdp_mem_rank_x.log: expected a name such as fsdp_mem_rank_0_training_step_2.log'

# A sum that is wrong by more than rounding is told.
sed 's/3670016/3670017/' peak.table >peak.bad
log peak.bad modules.table >fsdp_mem_rank_0_training_step_2.log
run analyze fsdp_mem_rank_0_training_step_2.log
exits 0
out_has 'the kinds in the table do not sum to its total'
run analyze --depth 2 samples/leak.pickle.gz
exits 2
err 'memsnap: samples/leak.pickle.gz: --depth does not apply to an allocator snapshot, only to runs of MemProfiler'
finish
