#!/bin/sh
# The answers of suggest do not depend on the number of threads, nor on the back end, except for its name.
. "${srcdir:=.}/tests/cli/lib.sh"

# answer FILE OPTION...: suggest's JSON without the name of the back end, in .run/same.
answer() {
    from=$1
    shift
    run suggest --format json "$@" "$from"
    sed 's/"backend":"[a-z]*"//g' .run/out >.run/same
}

# same_as_with_one_thread FILE OPTION...
same_as_with_one_thread() {
    answer "$@"
    check 'gives the same' cmp expected .run/same
}

"$MEMSNAP" backends >backends.txt
works=$(awk '$2 == "yes" { print $1 }' backends.txt)
check 'has the CPU' sh -c "echo \"$works\" | grep -qx cpu"

for file in samples/decoder.layers.json.gz samples/gpt.layers.json.gz samples/train-loop.pickle.gz; do
    for question in --pareto --budgets=90%,60%,50%,45% --checkpoints=3; do
        answer "$file" "$question" --threads 1 --backend cpu
        command cp .run/same expected
        check 'has an answer' test -s expected
        for threads in 2 3 7; do
            same_as_with_one_thread "$file" "$question" --threads "$threads"
        done
        case $question in
        --budgets*)
            for backend in $works; do
                same_as_with_one_thread "$file" "$question" --backend "$backend"
                check 'ran there' test ! -s .run/err
            done
            ;;
        esac
    done
done

# Slots are rounded alike.
decoder=samples/decoder.layers.json.gz
for backend in $works; do
    answer "$decoder" --model rotor --slots 37 --budget 42% --backend "$backend"
    command cp .run/same "slots-$backend"
    check "ran on $backend" grep -q "\"backend\":\"$backend\"" .run/out
    check 'gives the same with few slots' cmp slots-cpu "slots-$backend"
done

finish
