#include "conformance/fuzz_bodies.hpp"

#include <array>
#include <iterator>
#include <limits>

namespace backplane::conformance {
namespace {

constexpr std::size_t kMaxDepth = 12;
constexpr std::array<std::int64_t, 9> kNumbers{0,
                                               -1,
                                               1,
                                               255,
                                               65'536,
                                               std::numeric_limits<std::int32_t>::max(),
                                               std::numeric_limits<std::int32_t>::min(),
                                               std::numeric_limits<std::int64_t>::max(),
                                               std::numeric_limits<std::int64_t>::min()};
constexpr std::array<double, 4> kFractions{0.5, -0.0, 1e300, -1e-300};
constexpr std::array<std::string_view, 12> kTexts{
    "", " ", "\n", "a/b", "../..", "%s%n", "\xff\xfe", "\xf0\x9f\x92\xa9", "-1", "1e9", "2021-13-99T99:99:99Z", "{{.}}"};
constexpr std::array<std::size_t, 6> kLengths{15, 16, 63, 64, 256, 5'000};

// Members that identify the object and its type.
bool names_the_object(std::string_view key) { return key == "apiVersion" || key == "kind" || key == "metadata"; }

}  // namespace

Value BodyMutator::odd_value() {
  switch (below(10)) {
    case 0:
      return nullptr;
    case 1:
      return below(2) == 0;
    case 2:
    case 3:
      return kNumbers[below(kNumbers.size())];
    case 4:
      return kFractions[below(kFractions.size())];
    case 5:
      return Value(kTexts[below(kTexts.size())]);
    case 6:
    case 7:
      return Value(std::string(kLengths[below(kLengths.size())], static_cast<char>('a' + below(26))));
    case 8:
      return Array(below(4), Value(odd_value()));
    default:
      return Object{{kTexts[below(kTexts.size())], odd_value()}};
  }
}

void BodyMutator::change_object(Object& object, std::size_t depth) {
  const auto at = std::next(object.begin(), static_cast<std::ptrdiff_t>(below(object.size())));
  const std::string key(at->key());
  if (depth == 0 && names_the_object(key)) {
    if (below(20) == 0) at->value() = odd_value();
    if (key == "metadata" && at->value().is_object() && below(4) == 0) at->value().get_object()[kTexts[below(kTexts.size())]] = odd_value();
    return;
  }
  switch (below(6)) {
    case 0:
      object.erase(key);
      return;
    case 1:
      object[kTexts[below(kTexts.size())]] = odd_value();
      return;
    default:
      change(at->value(), depth + 1);
  }
}

void BodyMutator::change(Value& value, std::size_t depth) {
  const bool inside = depth < kMaxDepth && below(4) != 0;
  if (inside && value.is_object() && !value.get_object().empty()) return change_object(value.get_object(), depth);
  if (inside && value.is_array() && !value.get_array().empty())
    return change(value.get_array()[below(value.get_array().size())], depth + 1);
  value = odd_value();
}

Value BodyMutator::odd_tree(const Object& sample) {
  Object out = sample;
  for (std::size_t changes = 1 + below(3); changes > 0 && !out.empty(); --changes) change_object(out, 0);
  return out;
}

std::string BodyMutator::odd_bytes(std::string out) {
  static constexpr std::string_view kSigns("\"{}[]:,0-&*!|>\n\t\x00\xff", 18);
  for (std::size_t changes = 1 + below(6); changes > 0 && !out.empty(); --changes) {
    const std::size_t at = below(out.size());
    switch (below(5)) {
      case 0:
        out[at] = static_cast<char>(below(256));
        break;
      case 1:
        out.erase(at, 1 + below(8));
        break;
      case 2:
        out.insert(at, out.substr(at, 1 + below(32)));
        break;
      case 3:
        out.insert(at, 1, kSigns[below(kSigns.size())]);
        break;
      default:
        if (below(8) == 0) out.resize(at);
    }
  }
  return out;
}

}  // namespace backplane::conformance
