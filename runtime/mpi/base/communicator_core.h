#pragma once

#include <mutex>
#include <string>

#include "runtime/mpi/base/attributes.h"
#include "runtime/mpi/base/errors.h"
#include "runtime/mpi/base/info.h"

namespace phx::mpi {

/// What a communicator has beside communication; the engine's communicator derives from it and
/// opens its handle in communicators(). Thread rule: any thread.
class CommunicatorCore : public Object {
 public:
  /// The handler of errors; MPI_ERRORS_ARE_FATAL at first.
  [[nodiscard]] Ref<Errhandler> errhandler() const {
    const std::lock_guard lock(mutex_);
    return errhandler_;
  }
  void set_errhandler(Ref<Errhandler> handler) {
    const std::lock_guard lock(mutex_);
    errhandler_ = std::move(handler);
  }
  [[nodiscard]] std::string name() const {
    const std::lock_guard lock(mutex_);
    return name_;
  }
  void set_name(std::string name) {
    const std::lock_guard lock(mutex_);
    name_ = std::move(name);
  }

  /// What programs wish; nothing here looks at it.
  [[nodiscard]] Info::Entries hints() const {
    const std::lock_guard lock(mutex_);
    return hints_;
  }
  void set_hints(Info::Entries hints) {
    const std::lock_guard lock(mutex_);
    hints_ = std::move(hints);
  }

  Attributes attributes;

 private:
  mutable std::mutex mutex_;
  Info::Entries hints_;
  Ref<Errhandler> errhandler_{&errhandler_of(MPI_ERRORS_ARE_FATAL)};
  std::string name_;
};

/// All communicators with an open handle.
Handles<CommunicatorCore>& communicators();
/// The communicator behind a handle; fails with MPI_ERR_COMM.
CommunicatorCore& communicator_of(MPI_Comm comm);

}  // namespace phx::mpi
