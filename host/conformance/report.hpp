// Counts the checks and prints those that fail.
//
// Thread-safety: one thread.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

#include "conformance/api.hpp"

namespace backplane::conformance {

class Report {
 public:
  // `verbose`: also prints the checks that hold.
  Report(std::ostream& out, bool verbose) : out_(out), verbose_(verbose) {}

  // Sets the subject of the following checks, for messages: "widgets.example.com/v1 widgets: create".
  void begin(std::string subject) { subject_ = std::move(subject); }

  // The three functions below count a check and return whether it holds. `seen` is printed if it does not hold.
  bool holds(std::string_view check, bool condition, const std::string& seen = {});
  bool code(std::string_view check, const Answer& answer, int code);
  // Checks that the answer is a metav1.Status with this code and reason.
  bool error(std::string_view check, const Answer& answer, int code, std::string_view reason);

  std::size_t checks() const noexcept { return checks_; }
  std::size_t failures() const noexcept { return failures_; }

 private:
  std::ostream& out_;
  const bool verbose_;
  std::string subject_;
  std::size_t checks_ = 0, failures_ = 0;
};

// Returns the code and the beginning of the body, for messages.
std::string shown(const Answer& answer);

}  // namespace backplane::conformance
