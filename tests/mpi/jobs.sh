# Read by the tests that start MPI jobs from a shell, with their arguments BIN [OPTION...]: $bin, the $options of mpicc, and a
# folder of their own, in which they then are; a test sets $failed.
bin=$1
shift
options=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export PHOENIX_DIR=$work/meshes
failed=0
