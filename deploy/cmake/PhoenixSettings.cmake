# Settings of the whole build: language, compiler cache, where results go.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # so that an application may link us into a shared library

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug, RelWithDebInfo or Release" FORCE)
endif()

find_program(PHX_CCACHE ccache)
if(PHX_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this it gives up on what uses precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
                                  ${PHX_CCACHE})
endif()

# Programs stand in the build tree as they will after the installation (bin/, libexec/phoenix/), so
# that one finds the other in the same way in both.
include(GNUInstallDirs)
# Others may use what is installed, whatever the umask is (CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS gives way to it).
# First of all the folders that other programs use, too: those that are there stay as they are. PhoenixInstall has ours.
set(PHX_FOLDER_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
install(CODE "
foreach(folder . ${CMAKE_INSTALL_BINDIR} ${CMAKE_INSTALL_INCLUDEDIR} lib lib/systemd lib/systemd/system ${CMAKE_INSTALL_LIBDIR}
        ${CMAKE_INSTALL_LIBDIR}/cmake ${CMAKE_INSTALL_LIBDIR}/pkgconfig libexec share share/bash-completion
        share/bash-completion/completions share/doc share/man share/man/man1 share/man/man8)
  set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/\${folder}\")
  if(NOT EXISTS \"\${folder}\")
    file(MAKE_DIRECTORY \"\${folder}\")
    file(CHMOD \"\${folder}\" PERMISSIONS ${PHX_FOLDER_PERMISSIONS})
  endif()
endforeach()")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

set(PHX_WARNINGS -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast)

# GCC 12 takes `"text" + a_string()` for a copy onto itself when it optimises [GCC bug 105651]. Such
# lines are everywhere, so a new user would see pages of it; the dev preset, where warnings are errors
# and the optimiser does less, still looks for true ones. Of writing past the end it suspects them only
# where headers are precompiled; the sanitizers look for that.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  if(PHX_PRECOMPILE)
    list(APPEND PHX_WARNINGS -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
  if(NOT CMAKE_COMPILE_WARNING_AS_ERROR)
    list(APPEND PHX_WARNINGS -Wno-restrict)
  endif()
endif()
