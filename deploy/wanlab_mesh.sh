# For scripts that run inside the emulator of a wide-area network, which source it.
#
# begin_mesh BUILD FOLDER: a mesh `wide` of one daemon on each emulated machine, its files in FOLDER, an
# empty one. From then on `inside ARGUMENT...` is `phoenix ARGUMENT...` on the first of them.
begin_mesh() {
  mesh_phoenix=$1/bin/phoenix
  mesh_folder=$2
  local addresses=($WANLAB_ADDRS) i=0 machine
  # Each of the emulated machines has a folder of its own.
  cat >"$mesh_folder/shell" <<END
#!/bin/sh
machine=\$1
shift
mkdir -p -m 700 $mesh_folder/\$machine
PHOENIX_DIR=$mesh_folder/\$machine exec "$WANLAB_BIN" exec "\$machine" -- /bin/sh -c "\$*"
END
  chmod +x "$mesh_folder/shell"
  for machine in $WANLAB_NODES; do
    echo "$machine listen=${addresses[i++]}:0" >>"$mesh_folder/hosts"
  done
  inside up -q --mesh wide ${DAEMON_OPTIONS:+--daemon-option=$DAEMON_OPTIONS} --hosts "$mesh_folder/hosts" --remote-shell "$mesh_folder/shell"
  sleep "${SETTLE_S:-10}"  # until ways and bandwidths are measured
}

inside() { "$mesh_folder/shell" "${WANLAB_NODES%% *}" "$mesh_phoenix" "$@"; }
