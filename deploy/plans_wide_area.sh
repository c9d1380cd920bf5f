#!/bin/bash
# Short broadcasts of real daemons over an emulated wide-area network, along the trees of each planner,
# beside what `phoenix plan` predicts for the same network. Needs root, and a folder with the emulator
# `wanlab`, built.
#
#   WANLAB=/path/to/wanlab deploy/plans_wide_area.sh [TOPOLOGY]     default: agm6x4
#
# BUILD   a build [build/release]
# PLANS   planners that give trees, and do not go by the order of ids, which is that of joining
#         [greedy magpie list mgo ecef fef]
# BYTES   of a broadcast [1]
# ROUNDS  of which the median counts [10]
set -e
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${BUILD:-$here/build/release}" && pwd)
bytes=${BYTES:-1}
export BUILD=$build WANLAB

. "$here/deploy/wanlab_mesh.sh"

# predicted PLAN TOPOLOGY: ms until the last one has it, from p1.
predicted() {
  "$build/bin/phoenix" plan --topology "$2" --plans "$1" --bytes "$bytes" --json |
    sed -n 's/.*"last-ms": *\([0-9.]*\).*/\1/p' | head -1
}

# measured PLAN: the same, by daemons that draw that planner's trees over what they have measured.
measured() {
  local folder
  folder=$(mktemp -d)
  DAEMON_OPTIONS=--trees=$1 begin_mesh "$build" "$folder" >&2
  inside bench bcast --mesh wide --bytes "$bytes" --roots 0 --rounds "${ROUNDS:-10}" --pause 150 --json >"$folder/said"
  sed -n 's/.*"median": *\([0-9.e-]*\).*/\1/p' "$folder/said" | head -1
  inside down --mesh wide >&2
  rm -rf "$folder"
}

if [ "$1" = --inside ]; then
  printf '%-12s %12s %12s %8s\n' PLAN 'PREDICTED MS' 'MEASURED MS' RATIO
  for plan in ${PLANS:-greedy magpie list mgo ecef fef}; do
    awk -v plan="$plan" -v predicted="$(predicted "$plan" "$2")" -v measured="$(measured "$plan")" \
      'BEGIN { printf "%-12s %12.2f %12.2f %8.3f\n", plan, predicted, measured * 1000, measured * 1000 / predicted }'
  done
  exit 0
fi

[ -x "$WANLAB/wanlab" ] || { echo "say where the emulator is: WANLAB=/path/to/wanlab $0" >&2; exit 2; }
topology=${1:-agm6x4}
net=$(mktemp)
# What the emulator and phoenix plan say in the same words; scaled latencies as they are then.
awk '$1 == "scale-inter" { scale = $2 }
     $1 ~ /^(site|intra|latency|link|nic)$/ { lines[++n] = $0 }
     END { for (i = 1; i <= n; ++i) {
             count = split(lines[i], word, " ")
             if (word[1] == "latency" && scale) word[count] *= scale
             line = word[1]; for (k = 2; k <= count; ++k) line = line " " word[k]
             print line } }' "$WANLAB/topo/$topology" >"$net"
echo "overhead 20" >>"$net"
"$WANLAB/wanlab" up "$WANLAB/topo/$topology" --timeout 900 -- "$here/deploy/plans_wide_area.sh" --inside "$net"
rm -f "$net"
