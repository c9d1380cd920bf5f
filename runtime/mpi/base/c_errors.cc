#include "runtime/mpi/base/communicator_core.h"
#include "runtime/mpi/base/entry.h"
#include "runtime/mpi/base/error_codes.h"

using namespace phx::mpi;

PHX_MPI_ENTRY(int, Error_class, (int code, int* error_class)) {
  return enter("MPI_Error_class", [&] {
    need({error_class});
    *error_class = class_of(code);
  });
}

PHX_MPI_ENTRY(int, Error_string, (int code, char* text, int* length)) {
  return enter("MPI_Error_string",
               [&] { give_text(text_of(code), MPI_MAX_ERROR_STRING, text, length); });
}

PHX_MPI_ENTRY(int, Add_error_class, (int* error_class)) {
  return enter("MPI_Add_error_class", [&] {
    need({error_class});
    *error_class = add_error_class();
  });
}

PHX_MPI_ENTRY(int, Add_error_code, (int error_class, int* code)) {
  return enter("MPI_Add_error_code", [&] {
    need({code});
    *code = add_error_code(error_class);
  });
}

PHX_MPI_ENTRY(int, Add_error_string, (int code, const char* text)) {
  return enter("MPI_Add_error_string", [&] {
    require(text != nullptr, MPI_ERR_ARG, "the text is null");
    add_error_string(code, text);
  });
}

PHX_MPI_ENTRY(int, Comm_create_errhandler,
              (MPI_Comm_errhandler_function * function, MPI_Errhandler* errhandler)) {
  return enter("MPI_Comm_create_errhandler", [&] {
    require(function != nullptr && errhandler != nullptr, MPI_ERR_ARG, "an argument is null");
    auto* made = new Errhandler;
    made->function = function;
    *errhandler = errhandlers().open(made);
  });
}

PHX_MPI_ENTRY(int, Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler)) {
  return enter("MPI_Comm_set_errhandler", comm, [&] {
    communicator_of(comm).set_errhandler(Ref<Errhandler>(&errhandler_of(errhandler)));
  });
}

PHX_MPI_ENTRY(int, Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler* errhandler)) {
  return enter("MPI_Comm_get_errhandler", comm, [&] {
    require(errhandler != nullptr, MPI_ERR_ARG, "the pointer to the error handler is null");
    const Ref<Errhandler> handler = communicator_of(comm).errhandler();
    *errhandler = errhandlers().open(handler.get());
  });
}

PHX_MPI_ENTRY(int, Comm_call_errhandler, (MPI_Comm comm, int code)) {
  return enter("MPI_Comm_call_errhandler", comm, [&] {
    communicator_of(comm);
    raise(comm, "MPI_Comm_call_errhandler", Failure(code, "the program raised this error"));
  });
}

PHX_MPI_ENTRY(int, Errhandler_free, (MPI_Errhandler * errhandler)) {
  return enter("MPI_Errhandler_free", [&] {
    require(errhandler != nullptr, MPI_ERR_ARG, "the pointer to the error handler is null");
    Errhandler& freed = errhandler_of(*errhandler);
    // What MPI_Comm_get_errhandler returned is to be freed, also if it is a predefined one.
    const bool is_made = *errhandler != MPI_ERRORS_ARE_FATAL && *errhandler != MPI_ERRORS_RETURN;
    if (is_made) errhandlers().close(&freed);
    *errhandler = MPI_ERRHANDLER_NULL;
  });
}

PHX_MPI_ENTRY(int, Errhandler_create,
              (MPI_Handler_function * function, MPI_Errhandler* errhandler)) {
  return PMPI_Comm_create_errhandler(function, errhandler);
}

PHX_MPI_ENTRY(int, Errhandler_set, (MPI_Comm comm, MPI_Errhandler errhandler)) {
  return PMPI_Comm_set_errhandler(comm, errhandler);
}

PHX_MPI_ENTRY(int, Errhandler_get, (MPI_Comm comm, MPI_Errhandler* errhandler)) {
  return PMPI_Comm_get_errhandler(comm, errhandler);
}
