#include "net/client/answers.hpp"

#include <algorithm>
#include <charconv>

#include "backplane/core/meta.hpp"
#include "backplane/types/json_reading.hpp"

namespace backplane::api_client {
namespace {

Reason reason_of(std::string_view name, int code) {
  for (int i = 0; i <= static_cast<int>(Reason::kServiceUnavailable); ++i) {
    const auto reason = static_cast<Reason>(i);
    if (!name.empty() && reason_name(reason) == name) return reason;
  }
  switch (code) {
    case 401:
      return Reason::kUnauthorized;
    case 403:
      return Reason::kForbidden;
    case 404:
      return Reason::kNotFound;
    case 409:
      return Reason::kConflict;
    case 410:
      return Reason::kGone;
    case 429:
      return Reason::kTooManyRequests;
    case 503:
      return Reason::kServiceUnavailable;
    case 504:
      return Reason::kTimeout;
    default:
      return code >= 500 ? Reason::kInternalError : Reason::kBadRequest;
  }
}

StatusDetails details_of(const Object& details) {
  StatusDetails out;
  out.name = get_string(details, "name");
  out.group = get_string(details, "group");
  out.kind = get_string(details, "kind");
  out.uid = get_string(details, "uid");
  out.retry_after_seconds = static_cast<int>(get_int(details, "retryAfterSeconds").value_or(0));
  if (const Array* causes = get_array(details, "causes")) {
    for (const Value& each : *causes) {
      if (const Object* cause = each.if_object()) {
        out.causes.push_back({std::string(get_string(*cause, "reason")), std::string(get_string(*cause, "message")),
                              std::string(get_string(*cause, "field"))});
      }
    }
  }
  return out;
}

}  // namespace

Status status_of(const Object& object, int code) {
  const int sent_code = static_cast<int>(get_int(object, "code").value_or(code));
  Status status(sent_code, reason_of(get_string(object, "reason"), sent_code), std::string(get_string(object, "message")));
  if (const Object* details = get_object(object, "details")) status.with_details(details_of(*details));
  return status;
}

Status status_of(int code, std::string_view body) {
  const std::optional<Value> value = read_json(body);
  const Object* object = value ? value->if_object() : nullptr;
  if (object != nullptr && get_string(*object, "kind") == "Status") return status_of(*object, code);
  constexpr std::size_t kShown = 512;
  return Status(code, reason_of("", code),
                body.empty() ? "the server responded with code " + std::to_string(code) : std::string(body.substr(0, kShown)));
}

Revision revision_of(const Object& object) {
  const std::string_view text = meta_text(object, "resourceVersion");
  Revision revision = 0;
  std::from_chars(text.data(), text.data() + text.size(), revision);
  return revision;
}

}  // namespace backplane::api_client
