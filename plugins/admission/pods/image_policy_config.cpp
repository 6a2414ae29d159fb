#include "pods/image_policy_config.hpp"

#include <array>
#include <tuple>

#include "backplane/core/json_access.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::admission::pods {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr std::string_view kPolicyConfigSchema = R"({"definitions": {
  "io.k8s.imagepolicy.AdmissionConfig": {"type": "object", "properties": {
    "imagePolicy": {"$ref": "#/definitions/io.k8s.imagepolicy.WebhookConfig"}
  }},
  "io.k8s.imagepolicy.WebhookConfig": {"type": "object", "properties": {
    "kubeConfigFile": {"type": "string"},
    "allowTTL": {"type": "integer", "format": "int64"},
    "denyTTL": {"type": "integer", "format": "int64"},
    "retryBackoff": {"type": "integer", "format": "int64"},
    "defaultAllow": {"type": "boolean"}
  }}
}})";

const Schema& policy_config_schema() {
  static const auto set = *SchemaSet::compile(std::array{kPolicyConfigSchema});
  return *set->find("io.k8s.imagepolicy.AdmissionConfig");
}

struct Range {
  nanoseconds scale, min, max, otherwise;
};
constexpr Range kBackoff{1ms, 1ns, 5min, 500ms};
constexpr Range kAllow{1s, 1s, 30min, 5min};
constexpr Range kDeny{1s, 1s, 30min, 30s};

// -1 disables the time, 0 selects the default.
Result<nanoseconds> time_of(const Object& config, std::string_view member, const Range& range) {
  const std::int64_t number = get_int(config, member).value_or(0);
  if (number == -1) return nanoseconds(0);
  if (number == 0) return range.otherwise;
  // Products that exceed 64 bits wrap around, as in Go.
  const auto product = static_cast<std::uint64_t>(number) * static_cast<std::uint64_t>(range.scale.count());
  const nanoseconds value(static_cast<std::int64_t>(product));
  if (value >= range.min && value <= range.max) return value;
  return bad_request("valid value is between " + go_duration_text(range.min) + " and " + go_duration_text(range.max) + ", got " +
                     go_duration_text(value));
}

// A number of units with its fraction, without trailing zeros: "1.5".
std::string decimal(std::uint64_t count, std::uint64_t unit) {
  std::string text = std::to_string(count / unit);
  std::uint64_t rest = count % unit;
  if (rest != 0) text += '.';
  for (std::uint64_t place = unit / 10; rest != 0 && place != 0; place /= 10) {
    text += static_cast<char>('0' + rest / place);
    rest %= place;
  }
  return text;
}

}  // namespace

std::string go_duration_text(nanoseconds duration) {
  if (duration.count() == 0) return "0s";
  const std::string sign = duration.count() < 0 ? "-" : "";
  const auto count = duration.count() < 0 ? 0 - static_cast<std::uint64_t>(duration.count()) : static_cast<std::uint64_t>(duration.count());
  constexpr std::uint64_t kMicro = 1'000, kMilli = 1'000'000, kSecond = 1'000'000'000, kMinute = 60 * kSecond, kHour = 60 * kMinute;
  if (count < kMicro) return sign + std::to_string(count) + "ns";
  if (count < kMilli) return sign + decimal(count, kMicro) + "µs";
  if (count < kSecond) return sign + decimal(count, kMilli) + "ms";
  std::string text = sign;
  if (count >= kHour) text += std::to_string(count / kHour) + "h";
  if (count >= kMinute) text += std::to_string(count / kMinute % 60) + "m";
  return text + decimal(count % kMinute, kSecond) + "s";
}

Result<ImagePolicyConfig> parse_image_policy_config(std::string_view text) {
  if (text.empty()) return bad_request("no config specified");
  auto tree = parse_json(text, {}, nullptr);
  if (!tree.ok()) return std::move(tree).status();
  DecodeReport report;
  Status read = policy_config_schema().normalize(*tree, &report);
  if (!read.ok()) return read;
  if (!report.problems.empty()) return bad_request(report.problems.front());
  const Object& config = object_or_empty(tree->get_object(), "imagePolicy");
  ImagePolicyConfig out;
  for (auto [member, range, into] : {std::tuple{"retryBackoff", &kBackoff, &out.retry_backoff},
                                     std::tuple{"allowTTL", &kAllow, &out.allow_ttl}, std::tuple{"denyTTL", &kDeny, &out.deny_ttl}}) {
    auto time = time_of(config, member, *range);
    if (!time.ok()) return std::move(time).status();
    *into = *time;
  }
  out.kubeconfig = get_string(config, "kubeConfigFile");
  out.default_allow = get_bool(config, "defaultAllow").value_or(false);
  return out;
}

}  // namespace backplane::admission::pods
