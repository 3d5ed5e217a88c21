# Sourced by tests of memsnap dryrun: makes a PyTorch of the test's own, which Python finds. $source has the files of
# these tests, $built what was compiled of them.
TMPDIR=$here/tmp
PYTHONPATH=$here/site
export TMPDIR PYTHONPATH
mkdir tmp site site/torch site/torch/lib
cp "$source/torch/__init__.py" "$source/torch/version.py" site/torch/
cp "$built/libtorch_cuda.so" site/torch/lib/
cp "$built/libextension.so" site/

# leaves_no_folder: the run has removed its private folder.
leaves_no_folder() {
    check 'leaves no folder' test -z "$(ls -d tmp/memsnap-* 2>/dev/null)"
}
