# The test consumer.find_package: installs this build into a fresh prefix, then configures, builds and
# runs tests/consumer and the programs in README.md against the installation alone, by find_package and
# by pkg-config.
#   cmake -DBUILD=... -DCONSUMER=... -DWORK=... -DCOMPILER=... -DFLAGS=... -P test_consumer.cmake
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
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
