#include "conformance/report.hpp"

#include <ostream>

namespace backplane::conformance {

std::string shown(const Answer& answer) {
  constexpr std::size_t kMost = 400;
  std::string body = answer.body.substr(0, kMost);
  while (body.ends_with('\n')) body.pop_back();
  return (answer.code == 0 ? "no response" : std::to_string(answer.code)) + " " + body;
}

bool Report::holds(std::string_view check, bool condition, const std::string& seen) {
  ++checks_;
  if (!condition) ++failures_;
  if (condition && !verbose_) return true;
  out_ << (condition ? "ok      " : "FAILED  ") << subject_ << ": " << check << "\n";
  if (!condition && !seen.empty()) out_ << "        " << seen << "\n";
  return condition;
}

bool Report::code(std::string_view check, const Answer& answer, int code) {
  return holds(check, answer.code == code, "expected code " + std::to_string(code) + ", got " + shown(answer));
}

bool Report::error(std::string_view check, const Answer& answer, int code, std::string_view reason) {
  const bool right =
      answer.code == code && answer.text("kind") == "Status" && answer.text("status") == "Failure" && answer.text("reason") == reason;
  return holds(check, right, "expected code " + std::to_string(code) + " and reason " + std::string(reason) + ", got " + shown(answer));
}

}  // namespace backplane::conformance
