#include "app/metric_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

namespace backplane {
namespace {

// Quotation marks are escaped in values of labels only.
void append_escaped(std::string& out, std::string_view text, bool quotes) {
  const auto special = [quotes](char c) { return c == '\\' || c == '\n' || (quotes && c == '"'); };
  if (std::none_of(text.begin(), text.end(), special)) {
    out.append(text);
    return;
  }
  for (const char c : text) {
    if (special(c)) out.push_back('\\');
    out.push_back(c == '\n' ? 'n' : c);
  }
}

}  // namespace

void append_go_number(std::string& out, double number) {
  constexpr double kShortest = 1e6;  // from here on an exponent is used
  char text[32];
  if (std::isnan(number)) {
    out.append("NaN");
  } else if (std::isinf(number)) {
    out.append(number > 0 ? "+Inf" : "-Inf");
  } else if (const double size = std::fabs(number); size < kShortest && number == std::trunc(number)) {
    out.append(text, std::to_chars(text, text + sizeof text, static_cast<std::int64_t>(number)).ptr);
  } else {
    const auto form = size >= kShortest || size < 1e-4 ? std::chars_format::scientific : std::chars_format::fixed;
    out.append(text, std::to_chars(text, text + sizeof text, number, form).ptr);
  }
}

void append_family_head(std::string& out, std::string_view name, std::string_view help, std::string_view type) {
  out.append("# HELP ").append(name).push_back(' ');
  append_escaped(out, help, false);
  out.append("\n# TYPE ").append(name).append(" ").append(type).push_back('\n');
}

void append_label_value(std::string& out, std::string_view value) { append_escaped(out, value, true); }

}  // namespace backplane
