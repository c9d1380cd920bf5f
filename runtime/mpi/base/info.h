#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/mpi/base/handles.h"
#include "runtime/mpi/include/mpi.h"

namespace phx::mpi {

/// A list of keys and values, in the order in which keys were set first. Thread rule: any thread.
class Info : public Object {
 public:
  using Entries = std::vector<std::pair<std::string, std::string>>;

  Info() = default;
  explicit Info(Entries entries) : entries_(std::move(entries)) {}

  void set(const std::string& key, const std::string& value);
  [[nodiscard]] std::optional<std::string> find(const std::string& key) const;
  /// Whether there was such a key.
  bool remove(const std::string& key);
  [[nodiscard]] Entries entries() const;

 private:
  mutable std::mutex mutex_;
  Entries entries_;
};
Handles<Info>& infos();
/// The info object behind a handle; fails with MPI_ERR_INFO.
Info& info_of(MPI_Info handle);

}  // namespace phx::mpi
