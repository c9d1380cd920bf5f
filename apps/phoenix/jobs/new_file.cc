#include "apps/phoenix/jobs/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace phx::app {
namespace {

constexpr int kFilesMax = 1000;  // Of one stem.

NewFile open_at(const std::string& name, int flags) {
  std::error_code failure;
  const std::string path = std::filesystem::absolute(name, failure);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | flags, 0644);
  return {tcp::Descriptor(file), path};
}

Result<NewFile> checked(NewFile file, const std::string& option) {
  if (file.first.is_open()) return file;
  return Error{ErrorCode::kDenied, "cannot write " + file.second + ": " + std::strerror(errno) +
                                       "; " + option + " FILE says where to"};
}

}  // namespace

Result<NewFile> open_file(const std::string& name, int flags, const std::string& option) {
  return checked(open_at(name, flags), option);
}

Result<NewFile> make_file(const std::string& stem, const std::string& ending,
                          const std::string& option) {
  NewFile file = open_at(stem + ending, O_APPEND | O_EXCL);
  for (int n = 2; !file.first.is_open() && errno == EEXIST && n < kFilesMax; ++n) {
    file = open_at(stem + "-" + std::to_string(n) + ending, O_APPEND | O_EXCL);
  }
  return checked(std::move(file), option);
}

bool write_all(NewFile file, const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t size = ::write(file.first.get(), rest.data(), rest.size());
    if (size < 0 && errno != EINTR) return false;
    if (size > 0) rest.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

}  // namespace phx::app
