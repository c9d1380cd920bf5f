# Read by the tests of the installation: what whoever runs them has set up for himself is not meant for them.
foreach(name DIR JOIN KEY_FILE LISTEN MESH NETWORK RECEIVE_BYTES REPORT SEND_BYTES SOCKET VNODES)
  unset(ENV{PHOENIX_${name}})
endforeach()
set(ENV{PHOENIX_CONFIG} /dev/null)
