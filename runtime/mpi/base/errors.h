#pragma once

#include <atomic>
#include <exception>
#include <string>

#include "runtime/mpi/base/handles.h"
#include "runtime/mpi/include/mpi.h"

/// How the library says that something is wrong: inside as a Failure that is thrown, outside as a
/// code that the error handler of a communicator saw first. A code is its class.
namespace phx::mpi {

/// A call that cannot be done. `code` is an error class or what the program made of one.
struct Failure : std::exception {
  Failure(int error_code, std::string sentence) : code(error_code), what_(std::move(sentence)) {}
  [[nodiscard]] const char* what() const noexcept override { return what_.c_str(); }

  int code;

 private:
  std::string what_;
};

/// Throws a Failure of this class unless `holds`.
inline void require(bool holds, int error_class, const char* sentence) {
  if (!holds) throw Failure(error_class, sentence);
}

/// What happens after an error. Without a function: the job ends, or the call returns.
struct Errhandler : Object {
  MPI_Comm_errhandler_function* function = nullptr;
  bool is_fatal = false;
};
Handles<Errhandler>& errhandlers();
/// The error handler behind a handle; fails with MPI_ERR_ARG.
Errhandler& errhandler_of(MPI_Errhandler handle);

/// Where the library stands between MPI_Init and MPI_Finalize. The engine says it.
enum class Life { kBefore, kRunning, kFinalized };
std::atomic<Life>& life();

/// Ends the whole job after an error; never returns. The engine replaces the one that ends the
/// process. `text` is what a human reads.
using Abort = void (*)(MPI_Comm comm, int code, const char* text);
void set_abort(Abort function);
[[noreturn]] void abort_job(MPI_Comm comm, int code, const std::string& text);

/// While it lives this thread is in a function of the program that combines, and the library waits
/// for that with its lock: what ends the job there must not take it.
class InFunction {
 public:
  InFunction() { ++depth(); }
  InFunction(const InFunction&) = delete;
  InFunction& operator=(const InFunction&) = delete;
  ~InFunction() { --depth(); }
  [[nodiscard]] static bool here() { return depth() > 0; }

 private:
  static int& depth();
};

/// Calls the error handler of the communicator (of MPI_COMM_WORLD if the handle names none) and
/// returns the code. `function` is the name that the program called.
int raise(MPI_Comm comm, const char* function, const Failure& failure);
/// The same for the exception that is being handled. What is not one of the standard library's goes
/// on to the program, whose function threw it; so does what its error handler throws.
int raise_current(MPI_Comm comm, const char* function);

/// The text of a code; fails with MPI_ERR_ARG. After a predefined class follows what this thread
/// failed with, if it was that.
[[nodiscard]] std::string text_of(int code);
/// The same without the sentence of this thread's last error.
[[nodiscard]] std::string text_of_class(int code);
/// The class of a code; fails with MPI_ERR_ARG.
[[nodiscard]] int class_of(int code);
/// The greatest code in use, for the attribute MPI_LASTUSEDCODE.
[[nodiscard]] int* last_used_code();

}  // namespace phx::mpi
