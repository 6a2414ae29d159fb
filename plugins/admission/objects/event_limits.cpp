#include "objects/event_limits.hpp"

#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/config_document.hpp"

namespace backplane::admission::objects {
namespace {

constexpr std::int64_t kDefaultCacheSize = 4096;
constexpr std::array<std::string_view, 4> kLimitTypes = {"Server", "Namespace", "User", "SourceAndObject"};

constexpr std::string_view kLimitSchema = R"({"definitions": {
  "io.k8s.eventratelimit.$version.Configuration": {
    "x-kubernetes-group-version-kind": [{"group": "eventratelimit.admission.k8s.io", "kind": "Configuration", "version": "$version"}],
    "type": "object",
    "properties": {
      "TypeMeta": {"allOf": [{"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta"}], "x-backplane-inline": true},
      "limits": {"type": "array", "items": {"$ref": "#/definitions/io.k8s.eventratelimit.$version.Limit"}}
    }},
  "io.k8s.eventratelimit.$version.Limit": {"type": "object", "properties": {
    "type": {"type": "string"},
    "qps": {"type": "integer", "format": "int32"},
    "burst": {"type": "integer", "format": "int32"},
    "cacheSize": {"type": "integer", "format": "int32"}
  }}
}})";

EventLimitConfig limit_of(const Object& limit) {
  EventLimitConfig out;
  out.type = get_string(limit, "type");
  out.per_second = get_int(limit, "qps").value_or(0);
  out.burst = get_int(limit, "burst").value_or(0);
  out.cache_size = get_int(limit, "cacheSize").value_or(0);
  return out;
}

void check_limit(const EventLimitConfig& limit, const std::string& path, FieldErrors& errors) {
  if (std::find(kLimitTypes.begin(), kLimitTypes.end(), limit.type) == kLimitTypes.end()) {
    errors.not_supported(at(path, "type"), limit.type, {kLimitTypes.begin(), kLimitTypes.end()});
  }
  if (limit.burst <= 0) errors.invalid(at(path, "burst"), limit.burst, "must be positive");
  if (limit.per_second <= 0) errors.invalid(at(path, "qps"), limit.per_second, "must be positive");
  if (limit.type != "Server" && limit.cache_size < 0) {
    errors.invalid(at(path, "cacheSize"), limit.cache_size, "must not be negative");
  }
}

Result<std::vector<EventLimitConfig>> read_limits(std::string_view text) {
  static const kit::ConfigDecoder decoder("Configuration", {"v1alpha1"}, kLimitSchema);
  std::vector<EventLimitConfig> limits;
  if (text.empty()) return limits;
  auto document = decoder.decode(text);
  if (!document.ok()) return std::move(document).status();
  each(document->object, "limits", [&](const Object& limit, std::size_t) { limits.push_back(limit_of(limit)); });
  return limits;
}

std::string source_and_object(const Object& event) {
  const Object& source = object_or_empty(event, "source");
  const Object& about = object_or_empty(event, "involvedObject");
  std::string key;
  for (std::string_view member : {"component", "host"}) key.append(get_string(source, member));
  for (std::string_view member : {"kind", "namespace", "name", "uid", "apiVersion"}) key.append(get_string(about, member));
  return key;
}

}  // namespace

Result<std::vector<EventLimitConfig>> parse_event_limits(std::string_view text) {
  auto limits = read_limits(text);
  if (!limits.ok()) return limits;
  FieldErrors errors;
  if (limits->empty()) errors.invalid_raw("limits", "null", "must not be empty");
  for (std::size_t i = 0; i < limits->size(); ++i) check_limit((*limits)[i], at("limits", i), errors);
  if (!errors.empty()) return bad_request(errors.aggregate_message());
  return limits;
}

std::string event_limit_key(std::string_view type, const AdmissionAttributes& attributes) {
  if (type == "Namespace") return attributes.ns;
  if (type == "User") return attributes.user->name;
  if (type == "SourceAndObject" && attributes.object != nullptr) return source_and_object(*attributes.object);
  return {};
}

EventLimit::EventLimit(EventLimitConfig config, Clock now)
    : config_(std::move(config)),
      now_(std::move(now)),
      buckets_(static_cast<std::size_t>(config_.cache_size > 0 ? config_.cache_size : kDefaultCacheSize)) {}

std::optional<std::string> EventLimit::accept(const AdmissionAttributes& attributes) {
  const std::string key = event_limit_key(config_.type, attributes);
  const auto now = now_();
  {
    const std::lock_guard lock(mutex_);
    TokenBucket* bucket = buckets_.find(key);
    if (bucket == nullptr) {
      bucket = &buckets_.put(key, TokenBucket(static_cast<double>(config_.per_second), static_cast<double>(config_.burst), now));
    }
    if (bucket->take(now)) return std::nullopt;
  }
  return "limit reached on type " + config_.type + " for key " + key;
}

}  // namespace backplane::admission::objects
