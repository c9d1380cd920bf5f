# Writes mpif.h to DESTINATION. Its constants are those of mpi.h: handles are the same numbers, keys of
# predefined attributes the next ones, and lengths of texts have no place for an end.
set(text "! The constants of MPI for Fortran, in either form of source. Made from those of C.\n")
function(phx_constant name value)
  string(APPEND text "      INTEGER ${name}\n      PARAMETER (${name}=${value})\n")
  set(text "${text}" PARENT_SCOPE)
endfunction()

foreach(header phx_mpi_constants phx_mpi_handles phx_mpi_left_out phx_mpi_files)
  set(path ${PROJECT_SOURCE_DIR}/runtime/mpi/include/${header}.h)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(STRINGS ${path} lines REGEX "^#define MPI_")
  list(FILTER lines EXCLUDE REGEX "_FN(_NULL)? ")  # functions
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^#define (MPI_[A-Z0-9_]+) (.*)$" _ "${line}")
    set(name ${CMAKE_MATCH_1})
    string(REGEX REPLACE "^[(]([(]MPI_[A-Za-z]+[)])?(.*)[)]$" "\\2" value "${CMAKE_MATCH_2}")
    if(value MATCHES "^MPI_")
      set(value ${${value}})  # a second name
    endif()
    math(EXPR value "${value}")
    if(value GREATER 2147483647)
      math(EXPR value "${value} - 4294967296")
    endif()
    set(${name} ${value})
    if(name MATCHES "^MPI_MAX_")
      math(EXPR value "${value} - 1")
    elseif(name MATCHES "^MPI_(TAG_UB|HOST|IO|WTIME_IS_GLOBAL|UNIVERSE_SIZE|LASTUSEDCODE|APPNUM)$" OR
           name MATCHES "^MPI_WIN_(BASE|SIZE|DISP_UNIT|CREATE_FLAVOR|MODEL)$")
      math(EXPR value "${value} + 1")
    endif()
    if(name STREQUAL "MPI_DISPLACEMENT_CURRENT")
      set(displacement ${value})  # of another kind, see below
    else()
      phx_constant(${name} ${value})
    endif()
  endforeach()
endforeach()
foreach(constant "VERSION 3" "SUBVERSION 1" "STATUS_SIZE 5" "SOURCE 3" "TAG 4" "ERROR 5" "ADDRESS_KIND 8"
        "OFFSET_KIND 8" "COUNT_KIND 8" "INTEGER_KIND 4")
  separate_arguments(constant)
  phx_constant(MPI_${constant})
endforeach()
string(APPEND text [[
      INTEGER(KIND=MPI_OFFSET_KIND) MPI_DISPLACEMENT_CURRENT
      PARAMETER (MPI_DISPLACEMENT_CURRENT=@displacement@)
      LOGICAL MPI_SUBARRAYS_SUPPORTED
      PARAMETER (MPI_SUBARRAYS_SUPPORTED=.FALSE.)
      LOGICAL MPI_ASYNC_PROTECTS_NONBLOCKING
      PARAMETER (MPI_ASYNC_PROTECTS_NONBLOCKING=.FALSE.)
      INTEGER MPI_BOTTOM, MPI_IN_PLACE
      INTEGER MPI_STATUS_IGNORE(MPI_STATUS_SIZE)
      INTEGER MPI_STATUSES_IGNORE(MPI_STATUS_SIZE,1)
      INTEGER MPI_ERRCODES_IGNORE(1)
      INTEGER MPI_UNWEIGHTED(1), MPI_WEIGHTS_EMPTY(1)
      CHARACTER*1 MPI_ARGVS_NULL(1,1)
      CHARACTER*1 MPI_ARGV_NULL(1)
      COMMON /MPIFCMB5/ MPI_UNWEIGHTED
      COMMON /MPIFCMB9/ MPI_WEIGHTS_EMPTY
      COMMON /MPIPRIV1/ MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE
      COMMON /MPIPRIV2/ MPI_STATUSES_IGNORE, MPI_ERRCODES_IGNORE
      COMMON /MPIPRIVC/ MPI_ARGVS_NULL, MPI_ARGV_NULL
      SAVE /MPIFCMB5/, /MPIFCMB9/
      SAVE /MPIPRIV1/, /MPIPRIV2/, /MPIPRIVC/
      EXTERNAL MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, MPI_DUP_FN
      EXTERNAL MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN
      EXTERNAL MPI_COMM_DUP_FN, MPI_TYPE_DUP_FN
      EXTERNAL MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN
      EXTERNAL MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN
      EXTERNAL MPI_WIN_DUP_FN, MPI_CONVERSION_FN_NULL
      EXTERNAL MPI_WTIME, MPI_WTICK, PMPI_WTIME, PMPI_WTICK
      DOUBLE PRECISION MPI_WTIME, MPI_WTICK, PMPI_WTIME, PMPI_WTICK
      EXTERNAL MPI_AINT_ADD, MPI_AINT_DIFF
      INTEGER(KIND=MPI_ADDRESS_KIND) MPI_AINT_ADD, MPI_AINT_DIFF
]])
file(CONFIGURE OUTPUT ${DESTINATION} CONTENT "${text}" @ONLY)
