#include "legacy_tokens.hpp"

#include "backplane/core/meta.hpp"

namespace backplane::authentication {
namespace {

constexpr std::string_view kSince = "since";
constexpr std::size_t kDateSize = 10;  // of an RFC 3339 time

}  // namespace

bool is_date(std::string_view text) { return text.size() == kDateSize && parse_rfc3339(std::string(text) + "T00:00:00Z").has_value(); }

LegacyTokenTracking::LegacyTokenTracking(Host& host) : MaintainedConfigMap(host, "kube-apiserver-legacy-service-account-token-tracking") {}

Result<std::optional<Object>> LegacyTokenTracking::wanted(const Object* data) {
  if (data == nullptr && std::chrono::steady_clock::now() < next_) return std::optional<Object>();
  if (data != nullptr && is_date(get_string(*data, kSince))) return std::optional<Object>();
  Object out = data != nullptr ? *data : Object();
  out[kSince] = now_rfc3339().substr(0, kDateSize);
  return std::optional<Object>(std::move(out));
}

}  // namespace backplane::authentication
