// A file that takes effect again when its content changes.
//
//   host.spawn("authentication-config", kit::watch_file(host.stop_signal(), {path}, text, changed, failed));
//
// Thread-safety: read_bounded_file() from any thread; it blocks. A running watch_file() calls its callbacks on the executor
//                that awaits it; files are read on the pool of run_blocking().
// Lifetime:      objects that the callbacks use outlive the task, which ends soon after `stop` has fired.
// Errors:        reported to `failed`; the watch continues.
// Source:        k8s.io/apiserver/pkg/util/filesystem (WatchUntil).
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/points/hooks.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

inline constexpr std::size_t kMaxConfigBytes = std::size_t{4} << 20;

// The content of a file. Errors: kBadRequest, "open PATH: no such file or directory"; a file of more than `max_bytes`.
Result<std::string> read_bounded_file(const std::string& path, std::size_t max_bytes = kMaxConfigBytes);

struct WatchedFile {
  std::string path;
  // How often the file's metadata is compared. The content is read if they differ from those of the last reading, so that a replaced
  // symbolic link (a mounted ConfigMap or Secret) is noticed too.
  std::chrono::milliseconds interval{1000};
  // How often the content is read regardless, and a failed change is repeated.
  std::chrono::milliseconds full_interval{60'000};
  std::size_t max_bytes = kMaxConfigBytes;
};

// Receives content that differs from the content before. False: the change could not take effect and may succeed later; the same content
// is then passed again after `full_interval`. True: the change has taken effect, or the content is invalid and will stay so.
using FileChanged = std::function<Task<bool>(std::string content)>;
// Receives the reason why the file could not be read: after each change of its metadata and after each `full_interval`.
using FileFailed = std::function<void(const Status& status)>;

// Calls `changed` for each new content of the file until `stop` fires. `current`: the content that has taken effect; only its digest is
// kept.
Task<void> watch_file(Signal& stop, WatchedFile file, std::string current, FileChanged changed, FileFailed failed);

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
