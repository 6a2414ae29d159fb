#include "base/progress_line.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>

namespace backplane {
namespace {

constexpr std::chrono::milliseconds kOnTerminal{200}, kInLog{5000};

void to_standard_error(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

ProgressLine::ProgressLine() : ProgressLine(isatty(STDERR_FILENO) != 0, to_standard_error, std::chrono::steady_clock::now) {}

ProgressLine::ProgressLine(bool terminal, std::function<void(const std::string&)> write, Clock clock)
    : terminal_(terminal), write_(std::move(write)), clock_(std::move(clock)), next_(clock_() + (terminal_ ? kOnTerminal : kInLog)) {}

ProgressLine::~ProgressLine() { clear(); }

bool ProgressLine::is_due() { return clock_() >= next_; }

void ProgressLine::show(const std::string& line) {
  if (!is_due()) return;
  next_ = clock_() + (terminal_ ? kOnTerminal : kInLog);
  // On a terminal: moves to the beginning of the line, writes the text, and erases the rest of the former line.
  write_(terminal_ ? "\r" + line + "\x1b[K" : line + "\n");
  shown_ = terminal_;
}

void ProgressLine::keep(const std::string& line) {
  clear();
  write_(line + "\n");
}

void ProgressLine::clear() {
  if (shown_) write_("\r\x1b[K");
  shown_ = false;
}

std::string shown_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"bytes", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1000 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text.data();
}

std::string shown_part(std::uint64_t done, std::uint64_t total) {
  return total == 0 ? "" : std::to_string(done >= total ? 100 : done * 100 / total) + "%";
}

}  // namespace backplane
