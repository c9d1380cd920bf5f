#include "runtime/mpi/base/errors.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>

#include "runtime/mpi/base/communicator_core.h"
#include "runtime/mpi/base/error_codes.h"

namespace phx::mpi {
namespace {

/// What the last failure of this thread was, so that MPI_Error_string can say more than the class.
thread_local int last_code = MPI_SUCCESS;
thread_local std::string last_sentence;

void end_process(MPI_Comm /*comm*/, int code, const char* text) {
  std::fprintf(stderr, "%s\n", text);
  std::_Exit(code > 0 && code < 256 ? code : 1);
}

std::atomic<Abort>& abort_function() {
  static std::atomic<Abort> function{end_process};
  return function;
}

struct NamedClass {
  int number;
  const char* name;
  const char* sentence;
};
constexpr NamedClass kClasses[] = {
#define PHX_MPI_CLASS(name, sentence) {MPI_##name, "MPI_" #name, sentence},
    PHX_MPI_CLASSES(PHX_MPI_CLASS)
#undef PHX_MPI_CLASS
};

/// The classes, codes and texts that the program added, in the order of their numbers.
struct Added {
  std::mutex mutex;
  struct Entry {
    int error_class;
    std::string text;
  };
  std::map<int, Entry> entries;
  int last = MPI_ERR_LASTCODE;
};
Added& added() {
  static Added& all = *new Added;
  return all;
}

const NamedClass* predefined(int code) {
  for (const NamedClass& c : kClasses) {
    if (c.number == code) return &c;
  }
  return nullptr;
}

/// Never fails: the code may be one that a function of the program gave, of an attribute, say.
std::string words_of_class(int code) {
  try {
    return text_of_class(code);
  } catch (const Failure&) {
    return "the code " + std::to_string(code) + ", which is none of MPI's";
  }
}

int handle_error(const Ref<Errhandler>& handler, MPI_Comm comm, int code, const std::string& text) {
  if (!handler || handler->is_fatal) abort_job(comm, code, text);
  if (handler->function != nullptr) handler->function(&comm, &code);
  return code;
}

}  // namespace

Handles<Errhandler>& errhandlers() {
  static Handles<Errhandler>& all = *[] {
    auto* table = new Handles<Errhandler>(Kind::kErrhandler);
    auto* fatal = new Errhandler;
    fatal->is_fatal = true;
    table->predefine(MPI_ERRORS_ARE_FATAL, fatal);
    table->predefine(MPI_ERRORS_RETURN, new Errhandler);
    return table;
  }();
  return all;
}

Errhandler& errhandler_of(MPI_Errhandler handle) {
  Errhandler* found = errhandlers().find(handle);
  require(found != nullptr, MPI_ERR_ARG, "this is not an error handler");
  return *found;
}

std::atomic<Life>& life() {
  static std::atomic<Life> state{Life::kBefore};
  return state;
}

int& InFunction::depth() {
  static thread_local int depth = 0;
  return depth;
}

void set_abort(Abort function) {
  abort_function() = function;
}

void abort_job(MPI_Comm comm, int code, const std::string& text) {
  abort_function().load()(comm, code, text.c_str());
  std::abort();
}

int raise(MPI_Comm comm, const char* function, const Failure& failure) {
  last_code = failure.code;
  last_sentence = std::string(function) + ": " + failure.what();
  CommunicatorCore* core = communicators().find(comm);
  if (core == nullptr) {
    comm = MPI_COMM_WORLD;
    core = communicators().find(comm);
  }
  const Ref<Errhandler> handler = core == nullptr ? Ref<Errhandler>() : core->errhandler();
  return handle_error(handler, comm, failure.code,
                      last_sentence + " (" + words_of_class(failure.code) + ")");
}

int raise_current(MPI_Comm comm, const char* function) {
  try {
    throw;
  } catch (const Failure& failure) {
    return raise(comm, function, failure);
  } catch (const std::bad_alloc&) {
    return raise(comm, function, Failure(MPI_ERR_NO_MEM, "there is no memory left"));
  } catch (const std::exception& failure) {
    return raise(comm, function, Failure(MPI_ERR_OTHER, failure.what()));
  }
}

std::string text_of(int code) {
  const std::string text = text_of_class(code);
  const bool is_last = code == last_code && code != MPI_SUCCESS && predefined(code) != nullptr;
  return is_last ? text + "; " + last_sentence : text;
}

std::string text_of_class(int code) {
  if (const NamedClass* named = predefined(code)) {
    return std::string(named->name) + ": " + named->sentence;
  }
  Added& all = added();
  const std::lock_guard lock(all.mutex);
  const auto found = all.entries.find(code);
  require(found != all.entries.end(), MPI_ERR_ARG, "there is no such error code");
  return found->second.text;
}

int class_of(int code) {
  if (predefined(code) != nullptr) return code;
  Added& all = added();
  const std::lock_guard lock(all.mutex);
  const auto found = all.entries.find(code);
  require(found != all.entries.end(), MPI_ERR_ARG, "there is no such error code");
  return found->second.error_class;
}

int* last_used_code() {
  return &added().last;
}

int add_error_class() {
  Added& all = added();
  const std::lock_guard lock(all.mutex);
  ++all.last;
  all.entries[all.last] = {all.last, ""};
  return all.last;
}

int add_error_code(int error_class) {
  require(class_of(error_class) == error_class, MPI_ERR_ARG, "a code is not a class");
  Added& all = added();
  const std::lock_guard lock(all.mutex);
  all.entries[++all.last] = {error_class, ""};
  return all.last;
}

void add_error_string(int code, const std::string& text) {
  require(text.size() < MPI_MAX_ERROR_STRING, MPI_ERR_ARG, "the text of the error is too long");
  Added& all = added();
  const std::lock_guard lock(all.mutex);
  const auto found = all.entries.find(code);
  require(found != all.entries.end(), MPI_ERR_ARG, "only codes that the program added have texts");
  found->second.text = text;
}

}  // namespace phx::mpi
