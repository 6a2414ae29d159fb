// Progress of a command that lasts: on a terminal one line that is replaced several times a second, otherwise a new line every few
// seconds. A command that ends sooner writes none.
//
// Thread-safety: one thread.
// Lifetime:      on a terminal the destructor ends the line.
// Errors:        a stream that cannot be written to is ignored.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace backplane {

class ProgressLine {
 public:
  // Standard error.
  ProgressLine();
  // For tests.
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  ProgressLine(bool terminal, std::function<void(const std::string&)> write, Clock clock);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // True: it is time for the next line; costs a look at the clock.
  bool is_due();
  // Writes the line, if it is time.
  void show(const std::string& line);
  // Writes a line that stays, regardless of the time.
  void keep(const std::string& line);
  // Removes a line that is shown; call it before other output.
  void clear();

 private:
  const bool terminal_;
  const std::function<void(const std::string&)> write_;
  const Clock clock_;
  std::chrono::steady_clock::time_point next_;
  bool shown_ = false;
};

// "12.3 MB"
std::string shown_bytes(std::uint64_t bytes);
// "45%", or nothing if the total is not known.
std::string shown_part(std::uint64_t done, std::uint64_t total);

}  // namespace backplane
