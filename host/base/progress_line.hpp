// Shows the progress of a long-running command. On a terminal it is one line, which is replaced several times a second; otherwise a new
// line is written every few seconds. A command that ends before the first interval writes no progress.
//
// Thread-safety: one thread.
// Lifetime:      on a terminal the destructor removes the line.
// Errors:        errors of the stream are ignored.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace backplane {

class ProgressLine {
 public:
  // Writes to standard error.
  ProgressLine();
  // For tests.
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  ProgressLine(bool terminal, std::function<void(const std::string&)> write, Clock clock);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // True if the next line is due. Reads the clock.
  bool is_due();
  // Writes the line if it is due.
  void show(const std::string& line);
  // Writes a line that is not replaced, even if no line is due.
  void keep(const std::string& line);
  // Removes the current line from a terminal; to be called before other output.
  void clear();

 private:
  const bool terminal_;
  const std::function<void(const std::string&)> write_;
  const Clock clock_;
  std::chrono::steady_clock::time_point next_;
  bool shown_ = false;
};

// A text such as "12.3 MB".
std::string shown_bytes(std::uint64_t bytes);
// A text such as "45%"; empty if `total` is 0, which means unknown.
std::string shown_part(std::uint64_t done, std::uint64_t total);

}  // namespace backplane
