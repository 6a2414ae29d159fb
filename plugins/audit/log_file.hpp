// The file of the audit log and its rotated predecessors, named as lumberjack names them: audit-2006-01-02T15-04-05.000.log[.gz].
//
// Thread-safety: a LogFile by one thread at a time; clean_up_rotated_files() at the same time as a LogFile.
// Lifetime:      the destructor closes the file.
// Errors:        texts as Go's.
// Source:        gopkg.in/natefinch/lumberjack.v2.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/status.hpp"

namespace backplane::audit {

struct LogFileOptions {
  std::string path;             // "-": standard output
  std::uint64_t max_bytes = 0;  // 0: no rotation
  int max_age_days = 0;         // 0: no limit
  int max_backups = 0;          // 0: no limit
  bool compress = false;
};

// Removes and compresses rotated files as the options require. Blocks while gzip compresses.
// Errors:        the first that occurred; the other files are still processed.
Status clean_up_rotated_files(const LogFileOptions& options, std::chrono::system_clock::time_point now);

class LogFile {
 public:
  explicit LogFile(LogFileOptions options) : options_(std::move(options)) {}
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  // Creates the folder with mode 0700 and the file with 0600 if they are absent, and checks that it can be written.
  static Status ensure(const LogFileOptions& options);
  // Opens the file if it is closed.
  Status open();
  // Returns true if the open file has no room for `more` bytes after `pending` bytes, which have not been written yet. Then the `more`
  // bytes must be written to another file.
  bool is_full(std::size_t pending, std::size_t more) const noexcept;
  // Returns the error for an event of `bytes` if that is more than the maximum size of a file; empty: it is not.
  std::string too_long(std::size_t bytes) const;
  // Renames the file; the next write begins another one.
  Status rotate(std::chrono::system_clock::time_point now);
  // Writes `bytes`. `ends`: the positions in `bytes` at which lines end, ascending. Returns the number of lines that were written
  // completely. A line that was written partly is removed from the file.
  struct Written {
    std::size_t lines = 0;
    Status status;
  };
  Written write(std::string_view bytes, const std::vector<std::size_t>& ends);
  // Waits for the disk.
  void sync() noexcept;
  const LogFileOptions& options() const noexcept { return options_; }

 private:
  void close() noexcept;

  const LogFileOptions options_;
  int descriptor_ = -1;
  unsigned mode_ = 0600;  // the mode of the file that was rotated last
  std::uint64_t size_ = 0;
};

}  // namespace backplane::audit
