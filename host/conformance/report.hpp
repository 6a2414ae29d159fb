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
  // `verbose`: checks that hold are printed too.
  Report(std::ostream& out, bool verbose) : out_(out), verbose_(verbose) {}

  // The subject of the next checks: "widgets.example.com/v1 widgets: create".
  void begin(std::string subject) { subject_ = std::move(subject); }

  // Each returns whether the check holds. `seen` is printed if it does not.
  bool holds(std::string_view check, bool condition, const std::string& seen = {});
  bool code(std::string_view check, const Answer& answer, int code);
  // An error with the reason, as metav1.Status.
  bool error(std::string_view check, const Answer& answer, int code, std::string_view reason);

  std::size_t checks() const noexcept { return checks_; }
  std::size_t failures() const noexcept { return failures_; }

 private:
  std::ostream& out_;
  const bool verbose_;
  std::string subject_;
  std::size_t checks_ = 0, failures_ = 0;
};

// The code and the beginning of the body.
std::string shown(const Answer& answer);

}  // namespace backplane::conformance
