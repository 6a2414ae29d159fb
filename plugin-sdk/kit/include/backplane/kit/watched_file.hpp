// Watches a file and reports each change of its content.
//
//   host.spawn("authentication-config", kit::watch_file(host.stop_signal(), {path}, text, changed, failed));
//
// Thread-safety: read_bounded_file() on any thread; it blocks. watch_file() calls its callbacks on the executor that awaits it, and reads
//                files on the pool of run_blocking().
// Lifetime:      objects that the callbacks use must outlive the task, which ends soon after `stop` has fired.
// Errors:        `failed` receives them; the watch continues.
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

// Returns the content of a file. Errors: kBadRequest, such as "open PATH: no such file or directory", or if the file has more than
// `max_bytes`.
Result<std::string> read_bounded_file(const std::string& path, std::size_t max_bytes = kMaxConfigBytes);

struct WatchedFile {
  std::string path;
  // The interval between two comparisons of the file's metadata. If they differ from those of the last reading, the content is read. This
  // also detects a replaced symbolic link (a mounted ConfigMap or Secret).
  std::chrono::milliseconds interval{1000};
  // The interval after which the content is read even if the metadata are equal, and after which a change that failed is reported again.
  std::chrono::milliseconds full_interval{60'000};
  std::size_t max_bytes = kMaxConfigBytes;
};

// Receives content that differs from the previous content. Returns true if the change has taken effect, or if the content is invalid and a
// repetition would not help. Returns false if the change may take effect later; the same content is then passed again after
// `full_interval`.
using FileChanged = std::function<Task<bool>(std::string content)>;
// Receives the reason why the file could not be read: after each change of its metadata, and after each `full_interval`.
using FileFailed = std::function<void(const Status& status)>;

// Calls `changed` for each new content of the file until `stop` fires. `current` is the content that has already taken effect; only its
// digest is stored.
Task<void> watch_file(Signal& stop, WatchedFile file, std::string current, FileChanged changed, FileFailed failed);

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
