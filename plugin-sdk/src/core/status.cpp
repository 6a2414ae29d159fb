// Statuses and field errors with apimachinery's texts.
#include "backplane/core/status.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_set>

#include "backplane/core/json.hpp"
#include "backplane/core/plugin_unavailable.hpp"

namespace backplane BACKPLANE_API {
namespace {

struct ReasonRow {
  std::string_view name;
  int code;
};
// In the order of enum Reason.
constexpr std::array<ReasonRow, 21> kReasons = {{
    {"", 500},
    {"Unauthorized", 401},
    {"Forbidden", 403},
    {"NotFound", 404},
    {"AlreadyExists", 409},
    {"Conflict", 409},
    {"Gone", 410},
    {"Invalid", 422},
    {"ServerTimeout", 500},
    {"StorageReadError", 500},
    {"Timeout", 504},
    {"TooManyRequests", 429},
    {"BadRequest", 400},
    {"MethodNotAllowed", 405},
    {"NotAcceptable", 406},
    {"RequestEntityTooLarge", 413},
    {"UnsupportedMediaType", 415},
    {"InternalError", 500},
    {"Expired", 410},
    {"ServiceUnavailable", 503},
    {"PluginUnavailable", 503},
}};
static_assert(static_cast<std::size_t>(kPluginUnavailable) + 1 == kReasons.size());

struct FieldErrorRow {
  std::string_view cause;  // metav1.CauseType
  std::string_view text;
};
// In the order of enum FieldErrorType.
constexpr std::array<FieldErrorRow, 10> kFieldErrors = {{
    {"FieldValueNotFound", "Not found"},
    {"FieldValueRequired", "Required value"},
    {"FieldValueDuplicate", "Duplicate value"},
    {"FieldValueInvalid", "Invalid value"},
    {"FieldValueNotSupported", "Unsupported value"},
    {"FieldValueForbidden", "Forbidden"},
    {"FieldValueTooLong", "Too long"},
    {"FieldValueTooMany", "Too many"},
    {"InternalError", "Internal error"},
    {"FieldValueTypeInvalid", "Invalid value"},
}};
static_assert(static_cast<std::size_t>(FieldErrorType::kTypeInvalid) + 1 == kFieldErrors.size());

const std::string kEmpty;

// Returns "resource" or "resource.group".
std::string qualified(std::string_view group, std::string_view resource) {
  std::string out(resource);
  if (!group.empty()) {
    out.push_back('.');
    out.append(group);
  }
  return out;
}

StatusDetails details_of(std::string_view group, std::string_view resource, std::string_view name) {
  StatusDetails details;
  details.name = name;
  details.group = group;
  details.kind = resource;
  return details;
}

// Appends `,"key":"text"`, without the comma at the start of an object. Appends nothing for an empty text.
void append_member(std::string& out, std::string_view key, std::string_view text) {
  if (text.empty()) return;
  if (out.back() != '{') out.push_back(',');
  append_json_string(out, key);
  out.push_back(':');
  append_json_string(out, text);
}

void append_causes(std::string& out, const std::vector<StatusCause>& causes) {
  if (causes.empty()) return;
  if (out.back() != '{') out.push_back(',');
  out.append("\"causes\":[");
  for (const StatusCause& cause : causes) {
    if (out.back() != '[') out.push_back(',');
    out.push_back('{');
    append_member(out, "reason", cause.reason);
    append_member(out, "message", cause.message);
    append_member(out, "field", cause.field);
    out.push_back('}');
  }
  out.push_back(']');
}

void append_details(std::string& out, const StatusDetails& details) {
  out.append(",\"details\":{");
  append_member(out, "name", details.name);
  append_member(out, "group", details.group);
  append_member(out, "kind", details.kind);
  append_member(out, "uid", details.uid);
  append_causes(out, details.causes);
  if (details.retry_after_seconds != 0) {
    if (out.back() != '{') out.push_back(',');
    out.append("\"retryAfterSeconds\":").append(std::to_string(details.retry_after_seconds));
  }
  out.push_back('}');
}

FieldError make_error(FieldErrorType type, std::string field, std::string_view printed_value, std::string_view detail) {
  std::string text(kFieldErrors[static_cast<std::size_t>(type)].text);
  if (!printed_value.empty()) text.append(": ").append(printed_value);
  if (!detail.empty()) text.append(": ").append(detail);
  return {type, std::move(field), std::move(text)};
}

std::string path_or_nil(const std::string& field) { return field.empty() ? "<nil>" : field; }

std::string left_out_text(std::size_t count) { return "and " + std::to_string(count) + (count == 1 ? " more error" : " more errors"); }

}  // namespace

std::string_view reason_name(Reason reason) noexcept { return kReasons[static_cast<std::size_t>(reason)].name; }
int reason_code(Reason reason) noexcept { return kReasons[static_cast<std::size_t>(reason)].code; }

Status::Status(Reason reason, std::string message) : Status(reason_code(reason), reason, std::move(message)) {}
Status::Status(int code, Reason reason, std::string message)
    : body_(std::make_unique<Body>(Body{code, reason, std::move(message), std::nullopt})) {}
Status::Status(const Status& other) : body_(other.body_ ? std::make_unique<Body>(*other.body_) : nullptr) {}
Status& Status::operator=(const Status& other) {
  if (this != &other) body_ = other.body_ ? std::make_unique<Body>(*other.body_) : nullptr;
  return *this;
}

const std::string& Status::message() const noexcept { return body_ ? body_->message : kEmpty; }

Status& Status::with_details(StatusDetails details) & {
  assert(body_ && "a success has no details");
  body_->details = std::move(details);
  return *this;
}
Status&& Status::with_details(StatusDetails details) && { return std::move(with_details(std::move(details))); }

Status& Status::set_message(std::string message) {
  assert(body_ && "a success has no message");
  body_->message = std::move(message);
  return *this;
}

Status& Status::set_continue_token(std::string token) {
  assert(body_ && "a success has no continue token");
  body_->continue_token = std::move(token);
  return *this;
}

const std::string& Status::continue_token() const noexcept { return body_ ? body_->continue_token : kEmpty; }

std::string Status::to_json() const {
  std::string out = R"({"kind":"Status","apiVersion":"v1","metadata":{)";
  append_member(out, "continue", continue_token());
  out.append(R"(},"status":)");
  if (ok()) return out.append("\"Success\"}\n");
  out.append("\"Failure\"");
  append_member(out, "message", body_->message);
  append_member(out, "reason", reason_name(body_->reason));
  if (body_->details) append_details(out, *body_->details);
  if (body_->code != 0) out.append(",\"code\":").append(std::to_string(body_->code));
  return out.append("}\n");
}

Status not_found(std::string_view group, std::string_view resource, std::string_view name) {
  return Status(Reason::kNotFound, qualified(group, resource) + " " + quoted(name) + " not found")
      .with_details(details_of(group, resource, name));
}
Status already_exists(std::string_view group, std::string_view resource, std::string_view name) {
  return Status(Reason::kAlreadyExists, qualified(group, resource) + " " + quoted(name) + " already exists")
      .with_details(details_of(group, resource, name));
}
Status conflict(std::string_view group, std::string_view resource, std::string_view name, std::string_view why) {
  std::string message = "Operation cannot be fulfilled on " + qualified(group, resource) + " " + quoted(name) + ": ";
  return Status(Reason::kConflict, message.append(why)).with_details(details_of(group, resource, name));
}
Status forbidden(std::string_view group, std::string_view resource, std::string_view name, std::string_view why) {
  std::string message;
  if (resource.empty()) {
    message = "forbidden: ";
  } else if (name.empty()) {
    message = qualified(group, resource) + " is forbidden: ";
  } else {
    message = qualified(group, resource) + " " + quoted(name) + " is forbidden: ";
  }
  return Status(Reason::kForbidden, message.append(why)).with_details(details_of(group, resource, name));
}
Status unauthorized(std::string_view why) { return Status(Reason::kUnauthorized, std::string(why)); }
Status bad_request(std::string message) { return Status(Reason::kBadRequest, std::move(message)); }
Status internal_error(std::string_view why) {
  StatusDetails details;
  details.causes.push_back({"", std::string(why), ""});
  return Status(Reason::kInternalError, std::string("Internal error occurred: ").append(why)).with_details(std::move(details));
}
Status method_not_allowed(std::string_view group, std::string_view resource, std::string_view action) {
  std::string message = std::string(action) + " is not supported on resources of kind " + quoted(qualified(group, resource));
  return Status(Reason::kMethodNotAllowed, std::move(message)).with_details(details_of(group, resource, ""));
}
Status timeout(std::string message, int retry_after_seconds) {
  StatusDetails details;
  details.retry_after_seconds = retry_after_seconds;
  return Status(Reason::kTimeout, "Timeout: " + message).with_details(std::move(details));
}
Status expired(std::string message) { return Status(Reason::kExpired, std::move(message)); }
Status too_many_requests(std::string message, int retry_after_seconds) {
  StatusDetails details;
  details.retry_after_seconds = retry_after_seconds;
  return Status(Reason::kTooManyRequests, std::move(message)).with_details(std::move(details));
}
Status service_unavailable(std::string message) { return Status(Reason::kServiceUnavailable, std::move(message)); }
Status request_entity_too_large(std::string message) {
  return Status(Reason::kRequestEntityTooLarge, "Request entity too large: " + message);
}
Status too_large_resource_version(long long wanted, long long current, int retry_after_seconds) {
  StatusDetails details;
  details.retry_after_seconds = retry_after_seconds;
  details.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  return Status(Reason::kTimeout,
                "Timeout: Too large resource version: " + std::to_string(wanted) + ", current: " + std::to_string(current))
      .with_details(std::move(details));
}

void FieldErrors::required(std::string field, std::string_view detail) {
  add(make_error(FieldErrorType::kRequired, std::move(field), {}, detail));
}
void FieldErrors::invalid(std::string field, std::string_view value, std::string_view detail) {
  add(make_error(FieldErrorType::kInvalid, std::move(field), quoted(value), detail));
}
void FieldErrors::invalid(std::string field, long long value, std::string_view detail) {
  add(make_error(FieldErrorType::kInvalid, std::move(field), std::to_string(value), detail));
}
void FieldErrors::invalid_raw(std::string field, std::string_view printed_value, std::string_view detail) {
  add(make_error(FieldErrorType::kInvalid, std::move(field), printed_value, detail));
}
void FieldErrors::type_invalid(std::string field, std::string_view printed_value, std::string_view detail) {
  add(make_error(FieldErrorType::kTypeInvalid, std::move(field), printed_value, detail));
}
void FieldErrors::not_supported(std::string field, std::string_view value, const std::vector<std::string>& supported) {
  if (left_out_ > 0) {  // the list is full: further errors are only counted
    ++left_out_;
    return;
  }
  std::string detail;
  for (const std::string& each : supported) detail.append(detail.empty() ? "supported values: " : ", ").append(quoted(each));
  add(make_error(FieldErrorType::kNotSupported, std::move(field), quoted(value), detail));
}
void FieldErrors::forbidden(std::string field, std::string_view detail) {
  add(make_error(FieldErrorType::kForbidden, std::move(field), {}, detail));
}
void FieldErrors::duplicate(std::string field, std::string_view value) {
  add(make_error(FieldErrorType::kDuplicate, std::move(field), quoted(value), {}));
}
void FieldErrors::duplicate_raw(std::string field, std::string_view printed_value) {
  add(make_error(FieldErrorType::kDuplicate, std::move(field), printed_value, {}));
}
void FieldErrors::too_long(std::string field, std::string_view, long long max_bytes) {
  std::string detail = max_bytes >= 0 ? "may not be more than " + std::to_string(max_bytes) + " bytes" : "value is too long";
  add(make_error(FieldErrorType::kTooLong, std::move(field), {}, detail));
}
void FieldErrors::too_many(std::string field, long long actual, long long max_items) {
  std::string detail = "has too many items";
  if (max_items >= 0) detail = "must have at most " + std::to_string(max_items) + (max_items == 1 ? " item" : " items");
  add(make_error(FieldErrorType::kTooMany, std::move(field), actual >= 0 ? std::to_string(actual) : std::string(), detail));
}
void FieldErrors::not_found(std::string field, std::string_view value) {
  add(make_error(FieldErrorType::kNotFound, std::move(field), quoted(value), {}));
}
void FieldErrors::internal(std::string field, std::string_view detail) {
  add(make_error(FieldErrorType::kInternal, std::move(field), {}, detail));
}

void FieldErrors::add(FieldError error) {
  const std::size_t bytes = error.field.size() + error.text.size();
  if (left_out_ > 0 || list_.size() >= kMost || (!list_.empty() && bytes_ + bytes > kMostBytes)) {
    ++left_out_;
    return;
  }
  bytes_ += bytes;
  list_.push_back(std::move(error));
}

void FieldErrors::add(const FieldErrors& others) {
  for (const FieldError& error : others.list_) add(error);
  left_out_ += others.left_out_;
}

std::string FieldErrors::aggregate_message() const {
  // An Aggregate prints each text once, in the order of the first occurrences.
  std::unordered_set<std::string> seen;
  std::string out;
  for (const FieldError& error : list_) {
    std::string line = path_or_nil(error.field) + ": " + error.text;
    if (!seen.insert(line).second) continue;
    if (!out.empty()) out.append(", ");
    out.append(line);
  }
  if (left_out_ > 0) out.append(", ").append(left_out_text(left_out_));
  return seen.size() > 1 || left_out_ > 0 ? "[" + out + "]" : out;
}

Status FieldErrors::to_status(std::string_view group, std::string_view kind, std::string_view name) const {
  if (list_.empty()) return {};
  StatusDetails details = details_of(group, kind, name);
  for (const FieldError& error : list_) {
    details.causes.push_back({std::string(kFieldErrors[static_cast<std::size_t>(error.type)].cause), error.text, path_or_nil(error.field)});
  }
  if (left_out_ > 0) details.causes.push_back({{}, left_out_text(left_out_), {}});
  return Status(Reason::kInvalid, qualified(group, kind) + " " + quoted(name) + " is invalid: " + aggregate_message())
      .with_details(std::move(details));
}

}  // namespace BACKPLANE_API
