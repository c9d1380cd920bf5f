# Read by the tests that start MPI jobs from a shell, with their arguments BIN [OPTION...]: $bin, the $options of mpicc, and a
# folder of their own, in which they then are; a test sets $failed.
bin=$1
shift
options=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# What whoever runs the tests has set up for himself is not meant for them.
unset $(env | sed -n 's/^\(PHOENIX_[A-Z_]*\)=.*/\1/p') MPIEXEC_TIMEOUT
export PHOENIX_CONFIG=/dev/null
export PHOENIX_DIR=$work/meshes
failed=0
