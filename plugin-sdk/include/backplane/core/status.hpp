// The result of an operation: Status (metav1.Status) and Result<T>. An error Status is sent to the client unchanged, unless a caller
// handles it.
//
// Thread-safety: values; distinct objects are independent.
// Errors:        only std::bad_alloc is thrown.
// Source:        apimachinery/pkg/api/errors and apimachinery/pkg/apis/meta/v1: reasons, codes and texts.
#pragma once

#include <cassert>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// metav1.StatusReason. kNone: success, or an error without a reason (upstream sends some 500 responses without one).
enum class Reason : unsigned char {
  kNone,
  kUnauthorized,
  kForbidden,
  kNotFound,
  kAlreadyExists,
  kConflict,
  kGone,
  kInvalid,
  kServerTimeout,
  kStorageReadError,
  kTimeout,
  kTooManyRequests,
  kBadRequest,
  kMethodNotAllowed,
  kNotAcceptable,
  kRequestEntityTooLarge,
  kUnsupportedMediaType,
  kInternalError,
  kExpired,
  kServiceUnavailable,
};

// The reason as it is serialized ("NotFound"); empty for kNone.
std::string_view reason_name(Reason reason) noexcept;
// The HTTP code for a reason, as metav1.StatusReason documents it; 500 for kNone.
int reason_code(Reason reason) noexcept;

// metav1.StatusCause: one invalid field.
//
//   reason   the text of a FieldErrorType ("FieldValueInvalid") or a cause of metav1.CauseType
//   message  human-readable
//   field    the path of the field; empty: no field
struct StatusCause {
  std::string reason;
  std::string message;
  std::string field;
};

// metav1.StatusDetails. For most errors `kind` is the plural name of the resource, as upstream.
struct StatusDetails {
  std::string name;
  std::string group;
  std::string kind;
  std::string uid;
  std::vector<StatusCause> causes;
  int retry_after_seconds = 0;  // also sent as the header Retry-After; 0: not set
};

// Success, or an error as metav1.Status. Success is a null pointer and needs no allocation. [[nodiscard]]: code that ignores an error needs
// `(void)`.
class [[nodiscard]] Status {
 public:
  Status() = default;  // success
  // An error. The constructor without `code` uses reason_code().
  Status(Reason reason, std::string message);
  Status(int code, Reason reason, std::string message);
  Status(const Status& other);
  Status& operator=(const Status& other);
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  // True for success.
  bool ok() const noexcept { return body_ == nullptr; }
  explicit operator bool() const noexcept { return ok(); }

  // HTTP code; 200 for success.
  int code() const noexcept { return body_ ? body_->code : 200; }
  Reason reason() const noexcept { return body_ ? body_->reason : Reason::kNone; }
  // Empty for success.
  const std::string& message() const noexcept;
  // Null if the error has no details object. Upstream prints `"details":{}` for some errors and no details for others.
  const StatusDetails* details() const noexcept { return body_ && body_->details ? &*body_->details : nullptr; }

  // Change an error. Precondition: !ok().
  Status& with_details(StatusDetails details) &;
  Status&& with_details(StatusDetails details) &&;
  Status& set_message(std::string message);
  // metadata.continue of a 410 response: a token with which a client continues the list at the newest revision.
  Status& set_continue_token(std::string token);
  const std::string& continue_token() const noexcept;

  // Returns metav1.Status as canonical JSON with a trailing newline, also for success.
  std::string to_json() const;

 private:
  struct Body {
    int code;
    Reason reason;
    std::string message;
    std::optional<StatusDetails> details;
    std::string continue_token = {};
  };
  std::unique_ptr<Body> body_;
};

// A T, or the Status of the error. Access the value only if ok(); access status() only if !ok().
//
//   Result<int> parse(std::string_view text);
//
//   auto port = parse(text);
//   if (!port.ok()) return std::move(port.status());  // passes the error on
//   listen(*port);
template <class T>
class [[nodiscard]] Result {
 public:
  // Contains an internal error. asio::co_spawn needs a default constructor.
  Result() : status_(Reason::kInternalError, "result was never set") {}
  Result(T value) : value_(std::move(value)) {}                                  // NOLINT: a value is a result
  Result(Status status) : status_(std::move(status)) { assert(!status_.ok()); }  // NOLINT: an error is a result

  // True if there is a value.
  bool ok() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  // The value. Precondition: ok().
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  // The error. Precondition: !ok().
  Status& status() & { return status_; }
  const Status& status() const& { return status_; }
  Status&& status() && { return std::move(status_); }

 private:
  std::optional<T> value_;
  Status status_;
};

// The errors of apimachinery/pkg/api/errors with their texts. `resource` is the plural name. Messages contain "resource.group", or only the
// resource if `group` is empty. `why` and `message` are inserted unchanged.
// 404 NotFound: `deployments.apps "web" not found`.
Status not_found(std::string_view group, std::string_view resource, std::string_view name);
// 409 AlreadyExists: `deployments.apps "web" already exists`.
Status already_exists(std::string_view group, std::string_view resource, std::string_view name);
// 409 Conflict: `Operation cannot be fulfilled on deployments.apps "web": why`.
Status conflict(std::string_view group, std::string_view resource, std::string_view name, std::string_view why);
// 403 Forbidden: `deployments.apps "web" is forbidden: why`.
Status forbidden(std::string_view group, std::string_view resource, std::string_view name, std::string_view why);
// 401 Unauthorized. `why` is the whole message. Upstream sends clients only the default.
Status unauthorized(std::string_view why = "Unauthorized");
// 400 BadRequest with `message`.
Status bad_request(std::string message);
// 500 InternalError: `Internal error occurred: why`, with one cause. `why` is sent to the client: it must not contain secrets.
Status internal_error(std::string_view why);
// 405 MethodNotAllowed: `create is not supported on resources of kind "deployments.apps"`.
Status method_not_allowed(std::string_view group, std::string_view resource, std::string_view action);
// 504 Timeout, with details.retryAfterSeconds and the header Retry-After, unless `retry_after_seconds` is 0.
Status timeout(std::string message, int retry_after_seconds);
// 410 Expired: a revision or continue token that is too old.
Status expired(std::string message);
// 429 TooManyRequests, with details.retryAfterSeconds and the header Retry-After, unless `retry_after_seconds` is 0.
Status too_many_requests(std::string message, int retry_after_seconds);
// 503 ServiceUnavailable.
Status service_unavailable(std::string message);
// 413 RequestEntityTooLarge: the body exceeds a limit.
Status request_entity_too_large(std::string message);
// 504 Timeout with the cause ResourceVersionTooLarge (storage.NewTooLargeResourceVersionError): the store has not reached revision
// `wanted`.
Status too_large_resource_version(long long wanted, long long current, int retry_after_seconds = 1);

// The kinds of field errors of apimachinery/pkg/util/validation/field.
enum class FieldErrorType : unsigned char {
  kNotFound,
  kRequired,
  kDuplicate,
  kInvalid,
  kNotSupported,
  kForbidden,
  kTooLong,
  kTooMany,
  kInternal,
  kTypeInvalid
};

// One problem of one field.
struct FieldError {
  FieldErrorType type;
  std::string field;  // path, such as spec.containers[0].name; empty is printed as <nil>
  std::string text;   // the message without the path: `Invalid value: "x": must be …`
};

// The problems of one object, in the order in which they were found. After kMost errors, or kMostBytes of text, further errors are only
// counted.
//
//   FieldErrors errors;
//   if (replicas < 0) errors.invalid("spec.replicas", replicas, "must be greater than or equal to 0");
//   return errors.to_status("apps", "Deployment", name);  // ok if nothing was added
class FieldErrors {
 public:
  // Limits that keep the errors of a hostile object small.
  static constexpr std::size_t kMost = 10'000;
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20;

  // Each function adds one error with the text of the upstream function of the same name. `field`: the full path of the field. `detail`:
  // the text after the value.
  //
  // Text: `Required value`, followed by `: detail` unless `detail` is empty.
  void required(std::string field, std::string_view detail = {});
  // `value` is printed as upstream prints it: strings are quoted. The _raw functions, and type_invalid(), insert `printed_value` unchanged.
  void invalid(std::string field, std::string_view value, std::string_view detail);
  void invalid(std::string field, long long value, std::string_view detail);
  void invalid_raw(std::string field, std::string_view printed_value, std::string_view detail);
  void type_invalid(std::string field, std::string_view printed_value, std::string_view detail);
  // `Unsupported value: "x": supported values: "a", "b"`.
  void not_supported(std::string field, std::string_view value, const std::vector<std::string>& supported);
  // `Forbidden: detail`.
  void forbidden(std::string field, std::string_view detail);
  // `Duplicate value: "x"`.
  void duplicate(std::string field, std::string_view value);
  void duplicate_raw(std::string field, std::string_view printed_value);
  // `Too long: may not be more than N bytes`.
  void too_long(std::string field, std::string_view value, long long max_bytes);
  // `Too many: N: must have at most M items`.
  void too_many(std::string field, long long actual, long long max_items);
  // `Not found: "x"`.
  void not_found(std::string field, std::string_view value);
  // `Internal error: detail`.
  void internal(std::string field, std::string_view detail);
  void add(FieldError error);
  // Appends all of `others`.
  void add(const FieldErrors& others);
  // The number of errors that exceeded the limits.
  std::size_t left_out() const noexcept { return left_out_; }

  bool empty() const noexcept { return list_.empty(); }
  std::size_t size() const noexcept { return list_.size(); }
  const std::vector<FieldError>& list() const noexcept { return list_; }

  // Returns success if there are no errors; otherwise 422 `Kind.group "name" is invalid: …` with one cause for each error. If errors
  // exceeded the limits, the last cause contains their number.
  Status to_status(std::string_view group, std::string_view kind, std::string_view name) const;
  // Returns the text of utilerrors.Aggregate: "a.b: Required value" for one error, "[x: …, y: …]" for several.
  std::string aggregate_message() const;

 private:
  std::vector<FieldError> list_;
  std::size_t bytes_ = 0;
  std::size_t left_out_ = 0;
};

// Returns `text` as Go's %q prints it: in double quotes, with escapes for quotes, backslashes and bytes that are not printable.
std::string quoted(std::string_view text);
// Overloads for exact matches, which take precedence over std::quoted (argument-dependent lookup finds it for std::string if <iomanip> is
// included).
inline std::string quoted(const std::string& text) { return quoted(std::string_view(text)); }
inline std::string quoted(const char* text) { return quoted(std::string_view(text)); }

}  // namespace BACKPLANE_API
