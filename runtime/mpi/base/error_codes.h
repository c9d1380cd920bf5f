#pragma once

#include <string>

/// The predefined error classes with their sentences, and those that programs add.
namespace phx::mpi {

#define PHX_MPI_CLASSES(X)                                                  \
  X(SUCCESS, "no error")                                                    \
  X(ERR_BUFFER, "invalid pointer to a buffer")                              \
  X(ERR_COUNT, "invalid count")                                             \
  X(ERR_TYPE, "invalid datatype")                                           \
  X(ERR_TAG, "invalid tag")                                                 \
  X(ERR_COMM, "invalid communicator")                                       \
  X(ERR_RANK, "invalid rank")                                               \
  X(ERR_ROOT, "invalid root")                                               \
  X(ERR_GROUP, "invalid group")                                             \
  X(ERR_OP, "invalid operation")                                            \
  X(ERR_TOPOLOGY, "invalid topology")                                       \
  X(ERR_DIMS, "invalid dimensions")                                         \
  X(ERR_ARG, "invalid argument")                                            \
  X(ERR_UNKNOWN, "unknown error")                                           \
  X(ERR_TRUNCATE, "the message is longer than the buffer of the receive")   \
  X(ERR_OTHER, "an error of no other class")                                \
  X(ERR_INTERN, "an error inside the library")                              \
  X(ERR_IN_STATUS, "the error code is in the status")                       \
  X(ERR_PENDING, "the request is neither complete nor failed")              \
  X(ERR_REQUEST, "invalid request")                                         \
  X(ERR_ACCESS, "permission denied")                                        \
  X(ERR_AMODE, "invalid mode of access to a file")                          \
  X(ERR_BAD_FILE, "invalid file name")                                      \
  X(ERR_CONVERSION, "a user's conversion of data failed")                   \
  X(ERR_DUP_DATAREP, "the representation of data exists already")           \
  X(ERR_FILE_EXISTS, "the file exists")                                     \
  X(ERR_FILE_IN_USE, "the file is in use")                                  \
  X(ERR_FILE, "invalid file handle")                                        \
  X(ERR_INFO, "invalid info object")                                        \
  X(ERR_INFO_KEY, "invalid info key")                                       \
  X(ERR_INFO_VALUE, "invalid info value")                                   \
  X(ERR_INFO_NOKEY, "the info object has no such key")                      \
  X(ERR_IO, "an error of input or output")                                  \
  X(ERR_NAME, "no such service name")                                       \
  X(ERR_NO_MEM, "no memory")                                                \
  X(ERR_NOT_SAME, "the arguments differ between processes")                 \
  X(ERR_NO_SPACE, "no space left")                                          \
  X(ERR_NO_SUCH_FILE, "no such file")                                       \
  X(ERR_PORT, "invalid port name")                                          \
  X(ERR_QUOTA, "quota exceeded")                                            \
  X(ERR_READ_ONLY, "the file or file system is read-only")                  \
  X(ERR_SERVICE, "invalid service name")                                    \
  X(ERR_SPAWN, "processes could not be started")                            \
  X(ERR_UNSUPPORTED_DATAREP, "the representation of data is not supported") \
  X(ERR_UNSUPPORTED_OPERATION, "the operation is not supported")            \
  X(ERR_WIN, "invalid window")                                              \
  X(ERR_BASE, "memory was not allocated by MPI_Alloc_mem")                  \
  X(ERR_LOCKTYPE, "invalid type of lock")                                   \
  X(ERR_KEYVAL, "invalid attribute key")                                    \
  X(ERR_RMA_CONFLICT, "conflicting accesses to a window")                   \
  X(ERR_RMA_SYNC, "wrong synchronisation of a window")                      \
  X(ERR_SIZE, "invalid size")                                               \
  X(ERR_DISP, "invalid displacement")                                       \
  X(ERR_ASSERT, "invalid assertion")                                        \
  X(ERR_RMA_RANGE, "outside of the window")                                 \
  X(ERR_RMA_ATTACH, "memory cannot be attached to the window")              \
  X(ERR_RMA_SHARED, "memory cannot be shared")                              \
  X(ERR_RMA_FLAVOR, "the window is of another flavour")

/// A new class; its text is empty until add_error_string().
int add_error_class();
/// A new code of a class; fails with MPI_ERR_ARG.
int add_error_code(int error_class);
/// Gives a class or code that the program added its text; fails with MPI_ERR_ARG for others.
void add_error_string(int code, const std::string& text);

}  // namespace phx::mpi
