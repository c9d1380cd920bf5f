# The test consumer.debian_package: makes the package of this build, installs it into a root of its own,
# uses what it finds there, builds the examples against it, and removes it.
#   cmake -DBUILD=... -DWORK=... -DCOMPILER=... -DFLAGS=... -P test_package.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/test_environment.cmake)

# No daemon outlives a failure.
function(fail what)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PHOENIX_DIR=${WORK}/meshes
                          ${WORK}/root/usr/bin/phoenix down OUTPUT_QUIET ERROR_QUIET)
  message(FATAL_ERROR "${what}")
endfunction()
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    fail("${ARGN}: ended with ${code}")
  endif()
endfunction()
function(expect pattern)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE said ERROR_VARIABLE said COMMAND_ECHO STDOUT)
  if(NOT said MATCHES "${pattern}")
    fail("should say ${pattern}, says: ${said}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
set(root ${WORK}/root)
file(MAKE_DIRECTORY ${root}/var/lib/dpkg/info ${root}/var/lib/dpkg/updates ${root}/var/lib/dpkg/alternatives
     ${root}/var/log ${root}/etc/alternatives)
file(TOUCH ${root}/var/lib/dpkg/status)
expect("dpkg-shlibdeps is needed: apt-get install dpkg-dev file" ${CMAKE_COMMAND} -E env PATH=/nowhere
       ${CMAKE_CPACK_COMMAND} -G DEB --config ${BUILD}/CPackConfig.cmake -B ${WORK}/package)
run(sh -c "umask 077 && exec '${CMAKE_CPACK_COMMAND}' -G DEB --config '${BUILD}/CPackConfig.cmake' -B '${WORK}/package'")
file(GLOB package ${WORK}/package/phoenix_*.deb)
expect("Depends: .*libc6" dpkg-deb --info ${package})
# What it depends on is in the machine's own root.
set(dpkg dpkg --root=${root} --force-depends --force-not-root --force-script-chrootless --log=${WORK}/dpkg.log)
# An MPI of somebody else, which is preferred.
file(WRITE ${root}/usr/bin/mpicc.other "")
set(alternatives update-alternatives --root ${root})
set(other_mpi --install /usr/bin/mpicc mpi /usr/bin/mpicc.other 50)
function(expect_mpicc program)
  file(READ_SYMLINK ${root}/usr/bin/mpicc link)
  file(READ_SYMLINK ${root}/etc/alternatives/mpi target)
  if(NOT link STREQUAL "/etc/alternatives/mpi" OR NOT target STREQUAL "/usr/bin/${program}")
    fail("mpicc is ${link}, which is ${target}, and should be ${program}")
  endif()
endfunction()
run(${alternatives} ${other_mpi})
run(${dpkg} --install ${package})
expect_mpicc(mpicc.other)
run(${alternatives} --remove mpi /usr/bin/mpicc.other)
expect_mpicc(mpicc.phoenix)
run(${alternatives} ${other_mpi})
expect_mpicc(mpicc.other)
expect("-lphoenix-mpi" ${root}/usr/bin/mpicc.phoenix -show x.c)
expect("[(]Phoenix[)]" ${root}/usr/bin/mpirun.phoenix --version)
expect("/usr/libexec/phoenix/phoenix-keeper" ${dpkg} --listfiles phoenix)
foreach(file bin/phoenixd libexec/phoenix/heat libexec/phoenix/phoenix-experiments share/man/man1/phoenix.1 share/man/man8/phoenixd.8
             share/bash-completion/completions/phoenix
             share/doc/phoenix/apps/examples/bar/bar.cc)
  if(NOT EXISTS ${root}/usr/${file})
    fail("the package has no ${file}")
  endif()
endforeach()

file(READ ${root}/usr/lib/systemd/system/phoenixd.service unit)
if(NOT unit MATCHES "\nExecStart=\"/usr/bin/phoenixd\" " OR EXISTS ${root}/etc/systemd)
  fail("the unit for systemd does not name the phoenixd of the package, or it is enabled: ${unit}")
endif()
execute_process(COMMAND find ${root}/usr ( ! -perm -o=r -o -type d ! -perm -o=x ) -path *phoenix* -print
                OUTPUT_VARIABLE closed)
if(closed)
  fail("whoever packs with umask 077 makes what others cannot read: ${closed}")
endif()

# What these pages refer to is there.
set(documents ${root}/usr/share/doc/phoenix)
foreach(page README.md runtime/api/README.md runtime/mpi/README.md)
  file(READ ${documents}/${page} text)
  string(REGEX MATCHALL "[(][-A-Za-z0-9_./]+[.](md|png|service)[#)]" links "${text}")
  cmake_path(GET page PARENT_PATH folder)
  foreach(link IN LISTS links)
    string(REGEX REPLACE "[()#]" "" link "${link}")
    if(NOT EXISTS ${documents}/${folder}/${link})
      fail("${page} refers to ${link}, which is not in the package")
    endif()
  endforeach()
endforeach()

# A mesh of the daemons that were installed, and a job of each example.
set(phoenix ${CMAKE_COMMAND} -E env PHOENIX_DIR=${WORK}/meshes ${root}/usr/bin/phoenix)
run(${phoenix} up --local 3 -q)
foreach(example bar quadrature sort placement)
  run(${CMAKE_COMMAND} -S ${root}/usr/share/doc/phoenix/apps/examples/${example} -B ${WORK}/${example} -G Ninja
      -DCMAKE_PREFIX_PATH=${root}/usr -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS})
  run(${CMAKE_COMMAND} --build ${WORK}/${example})
  expect("${example}: .*(as one alone|is 3.14159265|are in order|came with)"
         ${phoenix} run -n 12 --no-balance --timeout 60 -- ${WORK}/${example}/${example})
  expect("${example}: " ${CMAKE_COMMAND} -E env PHOENIX_VNODES=5 ${WORK}/${example}/${example})
endforeach()
run(${phoenix} down)

run(${dpkg} --remove phoenix)
expect_mpicc(mpicc.other)
run(${alternatives} --remove mpi /usr/bin/mpicc.other)
file(REMOVE ${root}/usr/bin/mpicc.other)
file(GLOB_RECURSE left LIST_DIRECTORIES false ${root}/usr/*)
if(left)
  fail("left behind: ${left}")
endif()
