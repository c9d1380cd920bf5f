# The test consumer.find_package: installs this build into a fresh prefix, then configures, builds and
# runs tests/consumer and the programs in README.md against the installation alone, by find_package and
# by pkg-config.
#   cmake -DBUILD=... -DCONSUMER=... -DWORK=... -DCOMPILER=... -DFLAGS=... -P test_consumer.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/test_environment.cmake)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
# A prefix that is given from here is the same.
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix beside/here WORKING_DIRECTORY ${WORK}
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${WORK}/prefix/share/doc/phoenix/installed.txt listed)
file(STRINGS ${WORK}/beside/here/share/doc/phoenix/installed.txt beside)
file(STRINGS ${WORK}/beside/here/lib/systemd/system/phoenixd.service started REGEX "^ExecStart=")
if(NOT listed STREQUAL beside OR NOT "bin/phoenix" IN_LIST listed OR
   NOT started MATCHES "^ExecStart=\"${WORK}/beside/here/bin/phoenixd\" ")
  message(FATAL_ERROR "a relative prefix is not understood: ${started}; ${beside}")
endif()

# Once more, for all users, by somebody who lets nobody read what he makes; in a folder with a space.
function(expect code pattern)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE got OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT got EQUAL code OR NOT said MATCHES "${pattern}")
    message(FATAL_ERROR "should end with ${code} and say ${pattern}; it ended with ${got}: ${said}")
  endif()
endfunction()
set(apart "${WORK}/a prefix")
run(sh -c "umask 077 && exec '${CMAKE_COMMAND}' --install '${BUILD}' --prefix '${apart}'")
expect(0 "^$" find ${apart} ( ! -perm -o=r -o -type d ! -perm -o=x ) -print)
file(READ ${apart}/lib/systemd/system/phoenixd.service unit)
if(NOT unit MATCHES "\nExecStart=\"${apart}/bin/phoenixd\" ")
  message(FATAL_ERROR "the unit for systemd does not name the phoenixd beside it: ${unit}")
endif()
file(WRITE ${WORK}/ranks.c "#include <mpi.h>\n#include <stdio.h>\nint main(int argc, char** argv) {
  int rank; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf(\"here is %d\\n\", rank); return MPI_Finalize(); }\n")
run(${apart}/bin/mpicc -o ${WORK}/ranks ${WORK}/ranks.c)
expect(0 "here is 1" ${CMAKE_COMMAND} -E env PHOENIX_DIR=${WORK}/meshes ${apart}/bin/mpirun -n 2 ${WORK}/ranks)
expect(0 "\nflat " ${apart}/bin/phoenix plan --plans flat --bytes 1)
expect(0 "-I\"${apart}/include" ${apart}/bin/mpicc -show ${WORK}/ranks.c)
expect(127 "mpifort: there is no compiler nowhere here"
       ${CMAKE_COMMAND} -E env MPICH_FC=nowhere ${apart}/bin/mpifort ${WORK}/ranks.f)
# And away, as README.md says.
run(sh -c "cd '${apart}' && xargs -d '\\n' rm -f < share/doc/phoenix/installed.txt")
expect(0 "^$" find ${apart} ! -type d -print)

cmake_path(SET page NORMALIZE ${CONSUMER}/../..)
cmake_path(APPEND page README.md)
file(READ ${page} text)
set(number 1)
string(FIND "${text}" "```cpp\n" begin)
while(begin GREATER_EQUAL 0)
  math(EXPR begin "${begin} + 7")
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} program)
  file(WRITE ${WORK}/readme/program_${number}.cc "${program}")
  math(EXPR number "${number} + 1")
  math(EXPR end "${end} + 3")
  string(SUBSTRING "${text}" ${end} -1 text)
  string(FIND "${text}" "```cpp\n" begin)
endwhile()
file(GLOB_RECURSE description ${WORK}/prefix/phoenix-mpi.pc)
file(STRINGS ${description} up REGEX "^prefix=")
string(REPLACE "prefix=\${pcfiledir}" "" up "${up}")
cmake_path(GET description PARENT_PATH folder)
if(NOT EXISTS ${folder}${up}/include/phoenix-mpi/mpi.h)
  message(FATAL_ERROR "${description} does not find the prefix that it is in: ${up}")
endif()
run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${folder} sh -c
    "${COMPILER} -std=c++20 -o ${WORK}/by_hand ${CONSUMER}/job.cc $(pkg-config --cflags --libs phoenix)")
run(${WORK}/by_hand)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/none -G Ninja
                -DCMAKE_PREFIX_PATH=${BUILD} -DCMAKE_CXX_COMPILER=${COMPILER}
                RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE why)
string(REGEX REPLACE "[ \n]+" " " why "${why}")  # its lines are broken anywhere
if(code EQUAL 0 OR NOT why MATCHES "is a build of Phoenix, not an installation")
  message(FATAL_ERROR "whoever takes the build for an installation is told: ${why}")
endif()
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -G Ninja -DREADME=${WORK}/readme
    -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/build --output-on-failure --no-tests=error)
