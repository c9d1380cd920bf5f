#pragma once

#include <string>
#include <utility>

#include "overlay/base/result.h"
#include "runtime/tcp/descriptor.h"

namespace phx::app {

/// A file that was opened for writing, and its absolute path.
using NewFile = std::pair<tcp::Descriptor, std::string>;

/// Opens `name`, and makes it if need be; `flags`: O_APPEND or O_TRUNC. `option` is in the error,
/// which says how to name another one.
[[nodiscard]] Result<NewFile> open_file(const std::string& name, int flags,
                                        const std::string& option);

/// Makes "STEM.ENDING" in this folder, or "STEM-2.ENDING" ... if that is there.
[[nodiscard]] Result<NewFile> make_file(const std::string& stem, const std::string& ending,
                                        const std::string& option);

/// Writes all of it and closes the file. False: errno says why.
[[nodiscard]] bool write_all(NewFile file, const std::string& text);

}  // namespace phx::app
