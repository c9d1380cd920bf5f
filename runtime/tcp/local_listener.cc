#include "runtime/tcp/local_listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <cerrno>
#include <system_error>
#include <utility>

#include "overlay/base/time.h"
#include "runtime/tcp/await.h"
#include "runtime/tcp/descriptor.h"

namespace phx::tcp {
namespace {

using Protocol = asio::local::stream_protocol;

bool is_same_user(LocalListener::Socket& socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  const int failed = ::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
  return failed == 0 && peer.uid == ::geteuid();
}

/// Whether somebody accepts connections there, or has too many to accept.
bool is_listened_at(const std::string& path) {
  const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const auto* const named = reinterpret_cast<const sockaddr*>(&address);
  return ::connect(probe.get(), named, sizeof(address)) == 0 || errno == EAGAIN;
}

}  // namespace

struct LocalListener::Shared : std::enable_shared_from_this<Shared> {
  explicit Shared(const asio::any_io_executor& executor) : acceptor(executor), pause(executor) {}

  asio::awaitable<void> accept();

  Protocol::acceptor acceptor;
  asio::steady_timer pause;
  Handlers handlers;
  bool closed = false;
};

asio::awaitable<void> LocalListener::Shared::accept() {
  const auto keep = shared_from_this();
  while (!closed) {
    auto [error, socket] = co_await acceptor.async_accept(kAwait);
    if (closed) break;
    if (!error) {
      close_on_exec(socket.native_handle());
      if (is_same_user(socket)) {
        handlers.on_accepted(std::move(socket));
      } else {
        handlers.on_rejected({ErrorCode::kDenied, "an application of another user"});
      }
      continue;
    }
    handlers.on_rejected(
        {ErrorCode::kLimit, "an application cannot be accepted: " + error.message()});
    pause.expires_after(kPauseAfterFailure);
    co_await pause.async_wait(kAwait);
  }
}

Result<std::unique_ptr<LocalListener>> LocalListener::open(asio::any_io_executor executor,
                                                           const std::string& path,
                                                           Handlers handlers) {
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    return Error{ErrorCode::kBadInput, "socket " + path +
                                           ": the path is too long for a UNIX socket (at most " +
                                           std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                                           " characters); choose a shorter mesh directory"};
  }
  auto shared = std::make_shared<Shared>(executor);
  shared->handlers = std::move(handlers);
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) {
    if (is_listened_at(path)) {
      return Error{ErrorCode::kBusy, "another daemon is at the socket " + path +
                                         " (of the same process number, in another container?); "
                                         "give each its own mesh directory"};
    }
    ::unlink(path.c_str());
  }
  std::error_code error;
  Protocol::acceptor& acceptor = shared->acceptor;
  acceptor.open(Protocol(), error);
  if (!error) acceptor.bind(Protocol::endpoint(path), error);
  if (!error && ::chmod(path.c_str(), 0600) != 0) error = {errno, std::system_category()};
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return Error{ErrorCode::kDenied, "socket " + path + " cannot be made: " + error.message() +
                                         "; choose a mesh directory that you may write"};
  }
  close_on_exec(acceptor.native_handle());
  asio::co_spawn(acceptor.get_executor(), shared->accept(), asio::detached);
  return std::unique_ptr<LocalListener>(new LocalListener(std::move(shared), path));
}

LocalListener::LocalListener(std::shared_ptr<Shared> shared, std::string path)
    : shared_(std::move(shared)), path_(std::move(path)) {}

void LocalListener::close() {
  if (shared_->closed) return;
  shared_->closed = true;
  std::error_code ignored;
  shared_->acceptor.close(ignored);
  shared_->pause.cancel();
  ::unlink(path_.c_str());
}

}  // namespace phx::tcp
