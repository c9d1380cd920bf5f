# The third parties, each found once. All are packages of Debian 12; deploy/setup.sh installs them.

# Fails with the name of the Debian package that is missing.
function(phx_require found package what)
  if(NOT ${found})
    message(FATAL_ERROR "Phoenix needs ${what}: apt-get install ${package} (deploy/setup.sh installs "
                        "everything that is needed)")
  endif()
endfunction()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

include(${CMAKE_CURRENT_LIST_DIR}/PhoenixLinked.cmake)
phx_find_linked_parties()
phx_require(Protobuf_FOUND libprotobuf-dev "Protocol Buffers")
phx_require(Protobuf_PROTOC_EXECUTABLE protobuf-compiler "the compiler of Protocol Buffers")
phx_require(PHX_XXHASH_LIBRARY libxxhash-dev "xxHash")

if(PHX_BUILD_TCP)
  find_path(PHX_ASIO_INCLUDE_DIR asio.hpp)
  phx_require(PHX_ASIO_INCLUDE_DIR libasio-dev "Asio")
  phx_require(spdlog_FOUND libspdlog-dev "spdlog")
  phx_require(OPENSSL_FOUND libssl-dev "OpenSSL")
  find_package(CLI11 QUIET)
  phx_require(CLI11_FOUND libcli11-dev "CLI11")
  find_package(nlohmann_json QUIET)
  phx_require(nlohmann_json_FOUND nlohmann-json3-dev "nlohmann-json")
  find_package(PNG QUIET)
  phx_require(PNG_FOUND libpng-dev "libpng")
  find_library(PHX_CAIRO_LIBRARY cairo)
  find_path(PHX_CAIRO_INCLUDE_DIR cairo/cairo.h)
  if(PHX_CAIRO_LIBRARY AND PHX_CAIRO_INCLUDE_DIR AND NOT TARGET cairo::cairo)
    add_library(cairo::cairo UNKNOWN IMPORTED)
    set_target_properties(cairo::cairo PROPERTIES IMPORTED_LOCATION ${PHX_CAIRO_LIBRARY}
                          INTERFACE_INCLUDE_DIRECTORIES ${PHX_CAIRO_INCLUDE_DIR})
  endif()
  phx_require(PHX_CAIRO_INCLUDE_DIR libcairo2-dev "Cairo")
  find_package(benchmark QUIET)
  phx_require(benchmark_FOUND libbenchmark-dev "Google Benchmark")
endif()

if(PHX_BUILD_TESTS)
  find_package(doctest QUIET)
  phx_require(doctest_FOUND doctest-dev "doctest")
  include(doctest)
endif()
