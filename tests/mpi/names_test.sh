#!/bin/bash
# names_test.sh LIBRARY-FOLDER HEADER-FOLDER: our libraries have every name that MPICH's have, those of
# C and of Fortran, and a prototype for each that the standard 3.1 has but for the tools interface. The linker
# warns of those that README.md leaves out, and of no other.
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
readelf -SW "$ours/libphoenix-mpi.so" | grep -oE '\.gnu\.warning\.MPI_[A-Za-z_]*' | sed 's/.gnu.warning.//' |
  grep -vE "$later" | sort > "$work/warned"
diff "$work/refused" "$work/warned" > "$work/differ"
none "left out, or warned of, but not both" "$work/differ"
printf '#include <mpi.h>\nint main(void) { return MPI_Win_sync(MPI_WIN_NULL) + MPI_Barrier(MPI_COMM_WORLD) + PMPI_Message_c2f(MPI_MESSAGE_NULL); }\n' > "$work/call.c"
cc -I"$headers" "$work/call.c" -o "$work/call" -L"$ours" -lphoenix-mpi -Wl,-rpath-link,"$ours" 2> "$work/said" ||
  { echo "does not link"; cat "$work/said"; failed=1; }
grep -q 'MPI_Win_sync: one-sided communication is left out of Phoenix' "$work/said" ||
  { echo "the linker says nothing of MPI_Win_sync"; cat "$work/said"; failed=1; }
grep -v MPI_Win_sync "$work/said" | grep warning > "$work/more"
none "the linker says more" "$work/more"
if command -v gfortran > /dev/null; then
  fortran() {  # fortran CALL: what the linker says of a program with this call
    printf '      program p\n      integer e\n      call %s(e)\n      end\n' "$1" > "$work/call.f"
    gfortran "$work/call.f" -o "$work/call" -L"$ours" -lphoenix-mpi-fortran -lphoenix-mpi \
      -Wl,-rpath-link,"$ours" > "$work/said" 2>&1 || cat "$work/said"
    grep warning "$work/said"
  }
  fortran mpi_init > "$work/more"
  none "the linker says of a program in Fortran" "$work/more"
  fortran mpi_win_fence | grep -q 'MPI_Win_fence is left out' || { echo "nothing is said of mpi_win_fence"; failed=1; }
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
  names "$mpich/libmpichfort.so.12" '^p?mpi(_.*[^_]_|priv.*|fcmb.*)$|^__mpi_sizeofs' | grep -vE '^p?mpi_conversion_fn_null_$' |
    grep -v _f08 | comm -13 "$work/fortran" - > "$work/missing"
  none "MPICH has for Fortran, and we have not" "$work/missing"
fi
exit $failed
