# phx_library, phx_app, phx_test, phx_protobuf: the only way in which this project makes targets.
#
# The graph of the layers is written once, in the USES of these calls. It is enforced by linking, and
# by the test style.include_rules, which reads the file that phx_write_layers() writes.

include_guard()

add_custom_target(phx_programs)  # all programs, without the tests
add_custom_target(phx_fuzzers)   # all fuzz targets
add_custom_target(phx_tests)         # the test programs, but for style's, which needs everything
add_custom_target(phx_thread_tests)  # those of what has threads, sockets or processes
add_custom_target(phx_driver_tests)  # those and MPI's

# What every target says about itself to the style tests.
function(phx_register target sources headers uses system)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set_property(GLOBAL APPEND PROPERTY PHX_TARGETS ${target})
  set_property(GLOBAL PROPERTY PHX_FOLDER_${target} "${folder}")
  set_property(GLOBAL PROPERTY PHX_USES_${target} "${uses}")
  set_property(GLOBAL PROPERTY PHX_SYSTEM_${target} "${system}")
  foreach(file IN LISTS sources headers)
    cmake_path(ABSOLUTE_PATH file NORMALIZE)
    set_property(GLOBAL APPEND PROPERTY PHX_FILES ${file})
  endforeach()
endfunction()

# phx_precompile(target kind): the target finds the standard headers below compiled already. They are
# compiled once for each kind, because compilers refuse them where options differ: library, driver, program
# or test. That a header includes what it needs is seen where headers are compiled
# alone, and is a rule of style (tests/style/standard_rules.cc).
set(PHX_STANDARD_HEADERS <algorithm> <array> <chrono> <cstdint> <cstring> <deque> <functional> <map>
    <memory> <optional> <set> <span> <string> <string_view> <utility> <variant> <vector>)
function(phx_precompile target kind)
  if(NOT PHX_PRECOMPILE)
    return()
  endif()
  set(owner phx_precompiled_${kind})
  if(NOT TARGET ${owner})
    set(source ${PROJECT_BINARY_DIR}/generated/${owner}.cc)
    set(headers ${PHX_STANDARD_HEADERS})
    file(GENERATE OUTPUT ${source} CONTENT "")
    add_library(${owner} STATIC ${source})
    if(kind STREQUAL "driver")
      target_compile_options(${owner} PRIVATE ${PHX_DRIVER_OPTIONS})
    elseif(NOT kind STREQUAL "library")
      set_target_properties(${owner} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${owner} PRIVATE -fPIE)
    endif()
    if(kind STREQUAL "test")
      list(APPEND headers <doctest/doctest.h>)
      target_link_libraries(${owner} PRIVATE phx_test_main)
      target_compile_options(${owner} PRIVATE ${PHX_TEST_OPTIONS})
    endif()
    target_compile_options(${owner} PRIVATE ${PHX_WARNINGS})
    target_precompile_headers(${owner} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# phx_library(target [NOT_INSTALLED] [SOURCES ...] HEADERS ... [INTERNAL headers] [USES phx targets] [SYSTEM include
# prefixes] [LINK third-party targets]). INTERNAL headers are those that include a third party: they
# are for the target's own sources and tests, and are not installed. NOT_INSTALLED: nothing of it is;
# no installed library may use it. SYSTEM lists the first path component of what may be included in <>, beside
# the standard headers: asio, spdlog, google, openssl; "posix" stands for the headers of the system.
# Asio is linked publicly, because its definitions must be the same wherever it is included.
function(phx_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NOT_INSTALLED" ""
                        "SOURCES;HEADERS;INTERNAL;USES;SYSTEM;LINK")
  phx_check_arguments(${target})
  set(scope PUBLIC)
  set(kind STATIC)
  if(NOT arg_SOURCES)
    set(scope INTERFACE)
    set(kind INTERFACE)
  endif()
  add_library(${target} ${kind})
  add_library(phoenix::${target} ALIAS ${target})
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
                                    FILES ${arg_HEADERS})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} ${arg_USES})
  if(arg_SOURCES)
    target_sources(${target} PRIVATE ${arg_SOURCES} ${arg_INTERNAL})
    target_compile_options(${target} PRIVATE ${PHX_WARNINGS})
    if(PHX_DRIVER_OPTIONS AND CMAKE_CURRENT_SOURCE_DIR MATCHES "/runtime/(wire|tcp|local|api|mpi)(/|$)")
      target_compile_options(${target} PRIVATE ${PHX_DRIVER_OPTIONS})
      phx_precompile(${target} driver)
    else()
      phx_precompile(${target} library)
    endif()
    if(phx_asio IN_LIST arg_LINK)
      target_link_libraries(${target} PUBLIC phx_asio)
    endif()
    target_link_libraries(${target} PRIVATE ${arg_LINK})
  endif()
  phx_register(${target} "${arg_SOURCES}" "${arg_HEADERS};${arg_INTERNAL}" "${arg_USES}"
               "${arg_SYSTEM}")
  set_property(GLOBAL APPEND PROPERTY PHX_LIBRARIES ${target})
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  list(TRANSFORM arg_HEADERS PREPEND ${folder}/ OUTPUT_VARIABLE headers)
  set_property(GLOBAL APPEND PROPERTY PHX_HEADERS ${headers})
  if(NOT arg_NOT_INSTALLED)
    set_property(GLOBAL APPEND PROPERTY PHX_INSTALLED ${target})
  endif()
endfunction()

# phx_app(name SOURCES ... [HEADERS ...] [USES ...] [SYSTEM ...] [LINK ...] [DESTINATION folder]).
# DESTINATION is where the program stands below the prefix; bin/ unless said otherwise.
function(phx_app name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DESTINATION" "SOURCES;HEADERS;USES;SYSTEM;LINK")
  phx_check_arguments(${name})
  if(NOT arg_DESTINATION)
    set(arg_DESTINATION bin)
  endif()
  add_executable(${name} ${arg_SOURCES} ${arg_HEADERS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_USES} ${arg_LINK})
  target_compile_options(${name} PRIVATE ${PHX_WARNINGS})
  phx_precompile(${name} program)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${arg_DESTINATION})
  phx_register(${name} "${arg_SOURCES}" "${arg_HEADERS}" "${arg_USES}" "${arg_SYSTEM}")
  add_dependencies(phx_programs ${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${arg_DESTINATION})
endfunction()

# phx_test(name SOURCES ... [HEADERS ...] [USES ...] [LINK ...] [DEFINITIONS ...] [DEPENDS targets]
# [TIMEOUT seconds]): one doctest executable per folder below tests/; each TEST_CASE is a test of
# ctest, with the folder's name as prefix and as label. A name that selects no test case fails. With
# PHX_TESTS_BY_FILE each file is one: under sanitizers a process takes 0.15 s to begin. All of
# X_test.cc stands in a namespace X_test, so that files with helpers of equal names fit into one batch.
function(phx_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT"
                        "SOURCES;HEADERS;USES;SYSTEM;LINK;DEFINITIONS;DEPENDS")
  phx_check_arguments(${name})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  set(target ${name})
  if(NOT target MATCHES "_tests?$")
    set(target ${name}_test)
  endif()
  add_executable(${target} ${arg_SOURCES} ${arg_HEADERS})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE phx_test_main ${arg_USES} ${arg_LINK})
  target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS})
  target_compile_options(${target} PRIVATE ${PHX_WARNINGS} ${PHX_TEST_OPTIONS})
  phx_precompile(${target} test)
  if(arg_DEPENDS)
    add_dependencies(${target} ${arg_DEPENDS})
  endif()
  phx_register(${target} "${arg_SOURCES}" "${arg_HEADERS}" "${arg_USES}" "${arg_SYSTEM}")

  file(RELATIVE_PATH label ${PROJECT_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT label STREQUAL "style")
    add_dependencies(phx_tests ${target})
  endif()
  if(label MATCHES "^(tcp|local|api)$")
    add_dependencies(phx_thread_tests ${target})
  endif()
  if(label MATCHES "^(tcp|local|api|mpi|mpi_types)$")
    add_dependencies(phx_driver_tests ${target})
  endif()
  if(PHX_TESTS_BY_FILE)
    list(FILTER arg_SOURCES INCLUDE REGEX "_test\\.cc$")
    foreach(source IN LISTS arg_SOURCES)
      cmake_path(GET source STEM stem)
      file(READ ${source} text)
      string(REGEX MATCHALL "\nTEST_CASE" cases "${text}")
      string(REGEX MATCHALL "long_search\\(\\)" long_cases "${text}")
      list(LENGTH cases count)
      list(LENGTH long_cases long_count)
      if(count EQUAL long_count)
        continue()  # all are left out
      endif()
      add_test(NAME ${label}.${stem} COMMAND ${target} --source-file=*/${stem}.cc)
      set_tests_properties(${label}.${stem} PROPERTIES LABELS ${label} TIMEOUT 600
                           FAIL_REGULAR_EXPRESSION "test cases: +0 ")
    endforeach()
    return()
  endif()
  doctest_discover_tests(${target} TEST_PREFIX "${label}." TEST_LIST discovered)
  # Read by ctest after the list above: the properties that doctest's own module loses.
  set(properties ${CMAKE_CURRENT_BINARY_DIR}/${target}_properties.cmake)
  file(WRITE ${properties}
"if(discovered)
  set_tests_properties(\${discovered} PROPERTIES LABELS \"${label}\" TIMEOUT ${arg_TIMEOUT}
    FAIL_REGULAR_EXPRESSION \"test cases: +0 \")
endif()
unset(discovered)
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${properties})
endfunction()

# phx_fuzz(name SOURCES ... [USES ...] [LINK ...] [CORPUS folder] [RUNS n]): a libFuzzer target, and a
# test that runs it for a fixed number of inputs. Does nothing unless PHX_BUILD_FUZZERS.
function(phx_fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORPUS;RUNS" "SOURCES;USES;SYSTEM;LINK")
  phx_check_arguments(${name})
  phx_register(${name} "${arg_SOURCES}" "" "${arg_USES}" "${arg_SYSTEM}")
  if(NOT PHX_BUILD_FUZZERS)
    return()
  endif()
  if(NOT arg_RUNS)
    set(arg_RUNS 50000)
  endif()
  if(arg_CORPUS)
    cmake_path(ABSOLUTE_PATH arg_CORPUS)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_USES} ${arg_LINK})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  target_compile_options(${name} PRIVATE ${PHX_WARNINGS} -fsanitize=fuzzer-no-link)
  add_dependencies(phx_fuzzers ${name})
  # libFuzzer writes what it finds into the first folder: never into the sources.
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${name}_found)
  add_test(NAME fuzz.${name} COMMAND ${name} -runs=${arg_RUNS} -seed=1 -max_len=4096
           ${CMAKE_CURRENT_BINARY_DIR}/${name}_found ${arg_CORPUS})
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 300)
endfunction()

# phx_protobuf(target file.proto): the generated code as a library of its own, because it does not
# pass our warnings. Include it as "<folder>/file.pb.h", from the sources of the codec only.
function(phx_protobuf target proto)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  cmake_path(GET proto STEM stem)
  set(generated ${PROJECT_BINARY_DIR}/generated)
  set(base ${generated}/${folder}/${stem}.pb)
  file(MAKE_DIRECTORY ${generated}/${folder})
  add_custom_command(
    OUTPUT ${base}.cc ${base}.h
    COMMAND protobuf::protoc --cpp_out=${generated} -I${PROJECT_SOURCE_DIR}
            ${CMAKE_CURRENT_SOURCE_DIR}/${proto}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${proto}
    VERBATIM)
  add_library(${target} STATIC ${base}.cc ${base}.h)
  # As its library, which is not ours; with -O2 it takes a quarter longer, and no message that is
  # frequent is its. Builds that are only for tests do not optimise it at all: that takes a third.
  target_compile_options(${target} PRIVATE -fno-sanitize=all ${PHX_GENERATED_OPTIONS})
  target_include_directories(${target} SYSTEM PUBLIC $<BUILD_INTERFACE:${generated}>)
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf)
  set_property(GLOBAL APPEND PROPERTY PHX_INSTALLED ${target})
endfunction()

# The doctest main function, compiled once.
function(phx_test_main)
  add_library(phx_test_main STATIC main.cc)
  target_link_libraries(phx_test_main PUBLIC doctest::doctest)
  target_compile_definitions(phx_test_main PUBLIC DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
  phx_register(phx_test_main main.cc "support/little_memory.h;support/seeds.h" "" doctest)
endfunction()

# A misspelt keyword would otherwise become a source file or vanish.
macro(phx_check_arguments target)
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${target}: unknown or empty: ${arg_UNPARSED_ARGUMENTS} "
                        "${arg_KEYWORDS_MISSING_VALUES}")
  endif()
endmacro()

# Writes for each target "<folder>|<own folder, folders of USES>|<SYSTEM>" to layers.txt, and all
# files that belong to a target to files.txt, for the tests in tests/style.
function(phx_write_layers)
  get_property(targets GLOBAL PROPERTY PHX_TARGETS)
  set(layers "")
  foreach(target IN LISTS targets)
    get_property(folder GLOBAL PROPERTY PHX_FOLDER_${target})
    get_property(uses GLOBAL PROPERTY PHX_USES_${target})
    get_property(system GLOBAL PROPERTY PHX_SYSTEM_${target})
    set(allowed ${folder} overlay/base)
    foreach(used IN LISTS uses)
      get_property(used_folder GLOBAL PROPERTY PHX_FOLDER_${used})
      list(APPEND allowed ${used_folder})
    endforeach()
    list(REMOVE_DUPLICATES allowed)
    if(phx_api IN_LIST uses)
      list(APPEND system phoenix)  # <phoenix.h>, as applications write it
    endif()
    list(JOIN allowed "," allowed)
    list(JOIN system "," system)
    string(APPEND layers "${folder}|${allowed}|${system}\n")
  endforeach()
  file(WRITE ${PROJECT_BINARY_DIR}/layers.txt "${layers}")
  get_property(files GLOBAL PROPERTY PHX_FILES)
  list(JOIN files "\n" files)
  file(WRITE ${PROJECT_BINARY_DIR}/files.txt "${files}\n")
endfunction()

# Asio compiled once, as its authors recommend for large programs. Only its definitions are public.
if(PHX_BUILD_TCP)
  add_library(phx_asio STATIC ${PROJECT_SOURCE_DIR}/runtime/tcp/asio_impl.cc)
  # Without this Asio decides per source file, by what was included before it, how memory is
  # allocated and freed: a mixture of two ways.
  target_compile_definitions(phx_asio PUBLIC ASIO_DISABLE_STD_ALIGNED_ALLOC)
  target_compile_definitions(phx_asio PUBLIC ASIO_STANDALONE ASIO_SEPARATE_COMPILATION
                                             ASIO_NO_DEPRECATED)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Asio 1.22 looks for <experimental/coroutine> under clang, which libstdc++ does not have.
    target_compile_definitions(phx_asio PUBLIC ASIO_HAS_CO_AWAIT=1)
  endif()
  target_link_libraries(phx_asio PUBLIC Threads::Threads)
  set_property(GLOBAL APPEND PROPERTY PHX_INSTALLED phx_asio)
  set_property(GLOBAL APPEND PROPERTY PHX_FILES ${PROJECT_SOURCE_DIR}/runtime/tcp/asio_impl.cc)
endif()
