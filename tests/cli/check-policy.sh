#!/bin/sh
# Policies of memsnap check, the examples for CI, and names that would be more than text.
. "${srcdir:=.}/tests/cli/lib.sh"

cp samples/*.gz .
share=$cli/../../share
schema='"schema": "memsnap.policy/1"'

# policy JSON ARGUMENT...
policy() {
    printf '%s' "$1" >policy.json
    shift
    run check --policy policy.json "$@" leak.pickle.gz
}

# refused JSON MESSAGE
refused() {
    policy "$1"
    exits 2
    no_out
    err "memsnap: check: policy.json: $2"
}

# unread JSON: no JSON, in Jansson's words
unread() {
    policy "$1"
    exits 2
    no_out
    one_err_line
    err_has 'memsnap: check: policy.json: line 1: '
}

# every rule, as a string and as a number, on its own
policy "{$schema, \"\$schema\": \"policy.schema.json\", \"comment\": \"all of them\", \"max-peak\": \"1GiB\",
 \"max-reserved\": 1073741824, \"max-fragmentation\": \"30%\", \"max-growth\": \"47 MiB\",
 \"max-category\": {\"activation\": \"296MiB\", \"parameter\": 26740480}, \"max-site\": {\"model.py:*\": \"1GiB\"},
 \"max-increase\": \"50%\", \"no-oom\": true}" --baseline train-loop.pickle.gz
exits 0
no_err
out_has 'passed: 9 checks'
for rule in '"max-peak": 1' '"max-reserved": "1KiB"' '"max-fragmentation": "0.5%"' '"max-fragmentation": 1' \
    '"max-growth": 0' '"max-category": {"activation": 1}' '"max-site": {"model.py:*": "1"}' '"no-leaks": true'; do
    policy "{$schema, $rule}"
    exits 1
done
printf '{%s, "max-peak": "1KiB"}' "$schema" >policy.json
run check --policy - leak.pickle.gz <policy.json
exits 1
run check --policy - - <policy.json
exits 2
err 'memsnap: standard input (-) can be read only once'
run check --policy none.json leak.pickle.gz
exits 5
err 'memsnap: check: none.json: No such file or directory'

# options replace rules of the same name, and add others
policy "{$schema, \"max-peak\": 1, \"max-category\": {\"activation\": 1}}" --max-peak 1GiB \
    --max-category activation=1GiB --max-category parameter=1GiB
exits 0
out_has 'passed: 3 checks'

# a policy that cannot be parsed does not pass
unread ''
refused '[]' 'expected an object with "schema": "memsnap.policy/1"'
refused '{"max-peak": 1}' 'expected an object with "schema": "memsnap.policy/1"'
refused '{"schema": "memsnap.policy/2", "max-peak": 1}' 'expected an object with "schema": "memsnap.policy/1"'
refused "{$schema}" 'the policy has no rule'
refused "{$schema, \"comment\": \"none\"}" 'the policy has no rule'
refused "{$schema, \"max-category\": {}}" 'max-category must be an object, for example {"activation": "20GiB"}'
refused "{$schema, \"max-paek\": 1}" "unknown rule 'max-paek'; did you mean 'max-peak'?"
refused "{$schema, \"frobnicate\": 1}" "unknown rule 'frobnicate'; see 'memsnap check --help'"
unread "{$schema, \"max-peak\": 1, \"max-peak\": 2}"
refused "{$schema, \"max-peak\": -1}" 'max-peak must be a size, for example "70GiB" or 1024'
refused "{$schema, \"max-peak\": 1.5}" 'max-peak must be a size, for example "70GiB" or 1024'
refused "{$schema, \"max-peak\": null}" 'max-peak must be a size, for example "70GiB" or 1024'
refused "{$schema, \"max-peak\": [1]}" 'max-peak must be a size, for example "70GiB" or 1024'
refused "{$schema, \"max-peak\": \"5%\"}" "max-peak takes a limit such as 70GiB, not '5%'"
unread "{$schema, \"max-peak\": 9223372036854775808}"
unread "{$schema, \"max-peak\": NaN}"
refused "{$schema, \"max-category\": {\"activation\": true}}" \
    'max-category activation must be a size, for example "70GiB" or 1024'
unread "{$schema, \"max-category\": {\"a\": 1, \"a\": 2}}"
refused "{$schema, \"max-memory-after-suggest\": {\"x\": 1}}" \
    "max-memory-after-suggest takes a number of checkpoints and a size, such as 4=8GiB, not 'x' checkpoints"
refused "{$schema, \"max-fragmentation\": \"100%\"}" \
    'max-fragmentation 100% cannot fail: holes never exceed reserved memory'
refused "{$schema, \"no-oom\": false}" 'no-oom must be true; leave it out to disable it'
refused "{$schema, \"no-oom\": 1}" 'no-oom must be true; leave it out to disable it'
refused "{$schema, \"comment\": 1}" 'comment must be a string'
unread "{$schema, \"max-peak\": 1} x"
unread "{$schema, \"max-\\u0000peak\": 1}"
refused "{$schema, \"max-p\\u0065ak\\u001b[31m\": 1}" \
    "unknown rule 'max-peak\\x1b[31m'; see 'memsnap check --help'"
policy "{$schema, \"max-p\\u0065ak\": 1}" # an escape is the letter it stands for
exits 1
policy "{$schema, \"max-category\": {\"activations\": 1}}"
exits 2
one_err_line

# hostile: too large, too deep, too many
printf '{%s, "max-peak": 1}' "$schema" >huge.json
truncate -s 1G huge.json
run check --policy huge.json leak.pickle.gz
exits 2
err 'memsnap: check: huge.json: expected a policy of at most 1.00 MiB'
run check --policy /dev/zero leak.pickle.gz
exits 2
err 'memsnap: check: /dev/zero: expected a policy of at most 1.00 MiB'
head -c 500000 /dev/zero | tr '\0' '[' >deep.json
run check --policy deep.json leak.pickle.gz
exits 2
one_err_line
awk -v head="{$schema, \"max-site\": {" 'BEGIN {
    printf "%s", head
    for (i = 0; i < 300; i++)
        printf "%s\"%d.py\": 1", i ? "," : "", i
    print "}}"
}' >many.json
run check --policy many.json leak.pickle.gz
exits 2
err 'memsnap: check: many.json: at most 256 rules'
stars=$(head -c 250 /dev/zero | tr '\0' '*')
policy "{$schema, \"max-site\": {\"*a*a*a*a*a*a*a*a*a*a*a*a$stars*b*b*b*b*b!\": 1}}"
exits 2
policy "{$schema, \"max-site\": {\"$stars$stars\": 1}}"
exits 2
err "memsnap: check: policy.json: max-site: the text before '=' is longer than 256 bytes"

# the policy that the examples come with
run check --policy "$share/ci/memory-policy.json" train-loop.pickle.gz
exits 0
run check --policy "$share/ci/memory-policy.json" leak.pickle.gz
exits 1

# steps FILE: the shell steps of an example, one after another, each as CI would run it
steps() {
    awk '
        /^ *(run|-): [|]$|^ *- [|]$/ { match($0, /^ */); indent = RLENGTH; on = 1; print "(set -e"; next }
        /^ *- python / { sub(/^ *- /, ""); print "(set -e\n" $0 "\n) || exit"; next }
        on && /[^ ]/ { match($0, /^ */); if (RLENGTH <= indent) { on = 0; print ") || exit" } }
        on { print }
        END { if (on) print ") || exit" }' "$1"
}

# A program in the place of the user's training, and memsnap.
mkdir -p ci/bin
ln -s "$MEMSNAP" ci/bin/memsnap
cat >ci/bin/python <<'END'
#!/bin/sh
while [ "$1" != --memory-snapshot ]; do shift; done
cp "$RECORDED" "$2"
END
chmod +x ci/bin/python
cp "$share/ci/memory-policy.json" ci

# example NAME RECORDED STATUS
example() {
    last="the steps of $1 with $2"
    steps "$share/ci/$1" >ci/steps.sh
    status=0
    (cd ci && PATH=$PWD/bin:$PATH RECORDED=$here/$2 sh steps.sh) >.run/out 2>.run/err || status=$?
    exits "$3"
    no_err
}
steps "$share/ci/github-actions.yml" >.run/out
check 'has the steps of GitHub' test "$(grep -c '^(set -e' .run/out)" -eq 5
steps "$share/ci/gitlab-ci.yml" >.run/out
check 'has the steps of GitLab' test "$(grep -c '^(set -e' .run/out)" -eq 2

example github-actions.yml train-loop.pickle.gz 0
out_has '::notice title=memsnap::snapshot.pickle: passed 6 checks'
out_has '::notice title=memsnap::no snapshot of the main branch yet'
check 'made a baseline' test -f ci/baseline/snapshot.pickle
example github-actions.yml train-loop.pickle.gz 0
out_has '::notice title=memsnap::snapshot.pickle: passed 1 check'
example github-actions.yml leak.pickle.gz 1
out_has '::error file=/home/user/train/train.py,line=43,title=memsnap%3A max-growth::snapshot.pickle'
cp cache.pickle.gz ci/baseline/snapshot.pickle
example github-actions.yml train-loop.pickle.gz 1
out_has 'title=memsnap%3A max-increase 2%25::'

example gitlab-ci.yml train-loop.pickle.gz 0
check 'made a report' grep -q 'failures="0" errors="0"' ci/memory.xml
example gitlab-ci.yml leak.pickle.gz 1
check 'made a report of failures' grep -q 'failures="2" errors="0"' ci/memory.xml

# names from the capture cannot write commands, properties or markup of their own
cat >names.json <<'END'
{"segments": [], "device_traces": [[
 {"action": "alloc", "addr": 4096, "size": 1000, "stream": 0, "frames":
  [{"name": "f]]><b>&\"'%0A\u0001\ud800\ufffe", "filename": "/a/x,y:%0A::error::\n::warning::\r<i>.py", "line": 7}]}]]}
END
cp names.json '::stop,%0Aa:b
::error::c.json'
name='::stop,%0Aa:b
::error::c.json'
run check --max-peak 1 --format github names.json "$name"
exits 1
check 'only our own commands' test "$(grep -c '^::error file=' .run/out)" -eq 2
check 'and no other lines but warnings' test "$(grep -vc '^::error file=\|^::warning title=memsnap::' .run/out)" -eq 0
out_has '::error file=/a/x%2Cy%3A%250A%3A%3Aerror%3A%3A%0A%3A%3Awarning%3A%3A%0D<i>.py,line=7,title=memsnap%3A max-peak::names.json, device 0: '
out_has '%250A\x01'
run check --max-peak 1 --format junit names.json "$name"
exits 1
out_has 'classname="::stop,%0Aa:b\n::error::c.json"'
out_has '&#60;i&#62;.py'
out_has_not '<i>'
out_has_not '<b>'
run check --max-peak 1 --format text "$name"
exits 1
check 'the name is one line' test "$(grep -c '^::error' .run/out)" -eq 0
out_has "memsnap analyze '::stop,%0Aa:b\\n::error::c.json'"
run check --max-peak 1 --format json names.json
exits 1
out_has '"site_file":"/a/x,y:%0A::error::\u000a::warning::\u000d<i>.py","site_line":7'
GITHUB_WORKSPACE=/a/ run check --max-peak 1 --format github names.json
out_has '::error file=x%2Cy'
run check --max-peak 1 --format github --source-root /ab names.json
out_has '::error file=/a/x%2Cy'

finish
