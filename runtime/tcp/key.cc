#include "runtime/tcp/key.h"

#include <fcntl.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "runtime/tcp/descriptor.h"

namespace phx::tcp {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kDigits = 2 * sizeof(MeshKey);

std::string to_hex(const MeshKey& key) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : key) {
    text += kHex[std::to_integer<std::size_t>(byte) >> 4U];
    text += kHex[std::to_integer<std::size_t>(byte) & 15U];
  }
  return text;
}

std::optional<unsigned> digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

std::optional<MeshKey> from_hex(std::string_view text) {
  if (text.size() != kDigits) return std::nullopt;
  MeshKey key{};
  for (std::size_t i = 0; i < key.size(); ++i) {
    const auto high = digit(text[2 * i]);
    const auto low = digit(text[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    key[i] = static_cast<std::byte>(*high * 16 + *low);
  }
  return key;
}

Error system_error(ErrorCode code, const std::string& path, const char* what) {
  return {code, "key file " + path + ": " + what + ": " + std::strerror(errno)};
}

/// Root, and who runs this program, can read or replace it anyway.
bool is_trusted(uid_t owner) {
  return owner == 0 || owner == ::geteuid();
}

std::string of_user(uid_t owner) {
  return "belongs to another user (" + std::to_string(owner) +
         "), who knows or can replace the key";
}

Status check_file(const std::string& path, const struct stat& found) {
  if (!is_trusted(found.st_uid)) {
    return Error{ErrorCode::kDenied, "key file " + path + ": " + of_user(found.st_uid) +
                                         "; make a copy of your own: install -m 600 " + path +
                                         " COPY"};
  }
  if ((found.st_mode & 077U) == 0) return success();
  return Error{ErrorCode::kDenied, "key file " + path +
                                       ": others may read or write it; run `chmod 600 " + path +
                                       "`, and make a new key if they are not to be trusted"};
}

/// Whoever may write there can put another key in the place of this one.
Status check_folder(const std::string& path, const fs::path& folder) {
  struct stat found {};
  if (::stat(folder.c_str(), &found) != 0) {
    return system_error(ErrorCode::kDenied, path, "its folder cannot be looked at");
  }
  const std::string what = "key file " + path + ": its folder " + folder.string() + " ";
  if (!is_trusted(found.st_uid)) {
    return Error{ErrorCode::kDenied, what + of_user(found.st_uid) + "; keep it in one of yours"};
  }
  const bool is_writable = (found.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (!is_writable || (found.st_mode & S_ISVTX) != 0) return success();
  return Error{ErrorCode::kDenied, what +
                                       "can be written by others, who could replace the key; run "
                                       "`chmod go-w " +
                                       folder.string() + "`, or keep the key in another one"};
}

/// The folder of the name, and, if that is a symbolic link, the one of the file.
Status check_folders(const std::string& path) {
  std::error_code failure;
  const fs::path named = fs::absolute(path, failure).parent_path();
  const fs::path real = fs::canonical(path, failure).parent_path();
  const Status checked = check_folder(path, named);
  return !checked.ok() || failure || real == named ? checked : check_folder(path, real);
}

}  // namespace

Result<MeshKey> create_key(const std::string& path) {
  MeshKey key{};
  if (RAND_bytes(reinterpret_cast<unsigned char*>(key.data()), static_cast<int>(key.size())) != 1) {
    return Error{ErrorCode::kUnavailable, "the system gives no random bytes for a key"};
  }
  // Under its own name it appears whole, for others may read it at once.
  std::string fresh = path + ".XXXXXX";
  const Descriptor file(::mkostemp(fresh.data(), O_CLOEXEC));
  if (!file.is_open()) return system_error(ErrorCode::kDenied, path, "cannot be created");
  const std::string text = to_hex(key) + "\n";
  const bool is_written =
      ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fsync(file.get()) == 0;
  Result<MeshKey> made = key;
  if (!is_written) {
    made = system_error(ErrorCode::kUnavailable, path, "cannot be written");
  } else if (::link(fresh.c_str(), path.c_str()) != 0) {
    // Some file systems have no links: there it takes its name if nobody has that.
    const bool has_links = errno != EPERM && errno != EOPNOTSUPP && errno != EACCES;
    if (has_links || ::access(path.c_str(), F_OK) == 0 ||
        ::rename(fresh.c_str(), path.c_str()) != 0) {
      const auto code = errno == EEXIST ? ErrorCode::kBusy : ErrorCode::kDenied;
      made = system_error(code, path, "cannot be created");
    }
  }
  ::unlink(fresh.c_str());
  return made;
}

Result<MeshKey> read_key(const std::string& path) {
  // Without O_NONBLOCK a pipe of that name would be waited for.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) {
    const auto code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kDenied;
    return system_error(code, path, "cannot be read");
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return Error{ErrorCode::kBadInput, "key file " + path + ": is not a regular file"};
  }
  if (const Status checked = check_file(path, status); !checked.ok()) return checked.error();
  if (const Status checked = check_folders(path); !checked.ok()) return checked.error();
  std::array<char, kDigits + 2> text{};
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  std::string_view digits(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  if (digits.size() == kDigits + 1 && digits.back() == '\n') digits.remove_suffix(1);
  const auto key = from_hex(digits);
  if (!key) {
    return Error{ErrorCode::kBadInput, "key file " + path + ": does not hold 64 hexadecimal " +
                                           "digits; copy it again from where the mesh was started"};
  }
  return *key;
}

Result<MeshKey> parse_key(const std::string& text) {
  const auto key = from_hex(text);
  if (!key) return Error{ErrorCode::kBadInput, "a key is 64 hexadecimal digits"};
  return *key;
}

}  // namespace phx::tcp
