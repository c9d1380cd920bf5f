// The shared library consists of the archives of runtime/mpi; it has no source of its own.
