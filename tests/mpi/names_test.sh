#!/bin/bash
# names_test.sh LIBRARY-FOLDER HEADER-FOLDER: our libraries have every name that MPICH's have, those of
# C and of Fortran, and a prototype for each that the standard 3.1 has but for the tools interface. Those that
# README.md leaves out fail when they are called, and the linker says nothing of any.
set -u
ours=$1
headers=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
names() { nm -D --defined-only "$1" | awk '{ print $3 }' | sed 's/@.*//' | grep -E "$2" | sort -u; }
none() {  # none TEXT FILE: the file has to be empty
  [ ! -s "$2" ] || { echo "$1:"; cat "$2"; failed=1; }
}

# What the standard 3.1 has, and is left out; tools; and what came after 3.1.
left_out='^MPI_(Win_|File_[^cf]|File_c[lar]|Fetch_and_op$|Compare_and_swap$|(Get_|R|R?get_)?accumulate$|R?(get|put)$'
left_out+='|Get$|Put$|Rget|Rput|Raccumulate|Accumulate|Get_accumulate|Register_datarep'
left_out+='|Comm_(spawn|accept|connect|join)|(Open|Close)_port|(Publish|Unpublish|Lookup)_name)'
later='^MPI_(T_|Session_|Comm_(create_from_group|idup_with_info)|P(ready|arrived|send_init|recv_init)'
later+='|(All|Neighbor|Bcast|Barrier|Gather|Scatter|Reduce|Scan|Exscan).*_init$|.*_c$|Isendrecv'
later+='|Group_from_session|Info_(create_env|get_string)$|Intercomm_create_from_groups)'

echo '#include <mpi.h>' | cc -E -P -I"$headers" - |
  grep -oE '\bP?MPI_[A-Z][A-Za-z0-9_]* ?\(' | tr -d ' (' | sort -u > "$work/prototypes"
names "$ours/libphoenix-mpi.so" '^P?MPI_' > "$work/ours"
comm -23 "$work/prototypes" "$work/ours" > "$work/undefined"
none "declared but not defined" "$work/undefined"
sed -n 's/^MPI_/PMPI_MPI_/p' "$work/ours" | sed 's/PMPI_MPI_/PMPI_/' | grep -E '^PMPI_[A-Z][a-z]|^PMPI_T_[a-z]' |
  grep -vxFf "$work/ours" > "$work/profiled"
none "without a second name" "$work/profiled"

grep -E '^MPI_' "$work/prototypes" | grep -E "$left_out" | grep -vE '^MPI_Win_(f2c|c2f)$' > "$work/refused"
{
  sed 's/.*/int &();/' "$work/refused"
  echo 'void call_all(void (*check)(const char *, int)) {'
  sed 's/.*/  check("&", &(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));/' "$work/refused"
  echo '}'
} > "$work/refused.c"
cat > "$work/call.c" << 'EOF'
#include <mpi.h>
#include <stdio.h>
void call_all(void (*check)(const char *, int));
static int failed;
static void check(const char *name, int error) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(error, &error_class);
  if (error_class == MPI_ERR_UNSUPPORTED_OPERATION) return;
  printf("%s does not say that it is left out\n", name);
  failed = 1;
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  call_all(check);
  call_all(check);
  MPI_Finalize();
  return failed;
}
EOF
cc -I"$headers" "$work/call.c" "$work/refused.c" -w -o "$work/call" -L"$ours" -lphoenix-mpi -Wl,-rpath,"$ours" \
  -Wl,-rpath-link,"$ours" 2> "$work/said" || { echo "does not link"; failed=1; }
none "the linker says" "$work/said"
"$work/call" 2> "$work/refusals" || { cat "$work/refusals"; failed=1; }
for name in MPI_Win_allocate MPI_Put; do  # in words, too, though its errors are returned
  [ "$(grep -c "^$name: one-sided communication is left out of Phoenix$" "$work/refusals")" = 1 ] ||
    { echo "$name, called twice, is not told once:"; cat "$work/refusals"; failed=1; }
done
if command -v gfortran > /dev/null; then
  printf '      program p\n      integer e\n      call mpi_init(e)\n      call mpi_win_fence(e)\n      end\n' > "$work/call.f"
  gfortran "$work/call.f" -o "$work/call" -L"$ours" -lphoenix-mpi-fortran -lphoenix-mpi \
    -Wl,-rpath-link,"$ours" > "$work/said" 2>&1 || { echo "does not link"; failed=1; }
  none "the linker says of a program in Fortran" "$work/said"
  for rank in integer real; do  # the module knows the names and the kinds of arguments
    printf 'program p\n use mpi\n %s :: r\n integer :: e\n call mpi_comm_rank(comm=mpi_comm_world, rank=r, ierror=e)\nend\n' \
      $rank > "$work/kind.f90"
    gfortran -fsyntax-only -w -fallow-argument-mismatch -I"$ours/../../include/phoenix-mpi-fortran" "$work/kind.f90" \
      > "$work/said" 2>&1
    [ $? = $([ $rank = integer ] && echo 0 || echo 1) ] || { echo "a rank that is $rank:"; cat "$work/said"; failed=1; }
  done
fi

mpich=${MPICH_LIBRARIES:-/usr/lib/$(cc -print-multiarch)}
if [ ! -e "$mpich/libmpich.so.12" ]; then
  [ $failed = 0 ] && echo "libmpich12 is not installed: not compared"
  exit $failed
fi
data='^MPI_(F08_STATUS(ES)?_IGNORE|T_PVAR_ALL_HANDLES)$'
names "$mpich/libmpich.so.12" '^P?MPI_' | grep -vE "$data" > "$work/theirs"
comm -13 "$work/ours" "$work/theirs" > "$work/missing"
none "MPICH has, and we have not" "$work/missing"
grep -E '^MPI_' "$work/theirs" | grep -vE "$later" | grep -E '^MPI_[A-Z][a-z]' |
  grep -vxFf "$work/prototypes" > "$work/undeclared"
none "without a prototype" "$work/undeclared"
grep -E "$later" "$work/prototypes" > "$work/both"
none "later than 3.1, but with a prototype" "$work/both"

if [ -e "$mpich/libmpichfort.so.12" ]; then
  names "$ours/libphoenix-mpi-fortran.so" '^p?mpi|^__mpi_sizeofs' > "$work/fortran"
  names "$mpich/libmpichfort.so.12" '^p?mpi(_.*[^_]_|priv.*|fcmb.*)$|^__mpi_sizeofs' |
    grep -v _f08 | comm -13 "$work/fortran" - > "$work/missing"
  none "MPICH has for Fortran, and we have not" "$work/missing"
fi
exit $failed
