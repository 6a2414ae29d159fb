// How an operation ended, in the words of metav1.Status: what a client will be sent if nobody handles it first.
//
// Thread-safety: values; distinct objects are independent.
// Errors:        a Status is itself the error; nothing here throws but std::bad_alloc.
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

// metav1.StatusReason.  kNone is "success" or an error without a reason (upstream sends some 500s so).
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

// The wire word of a reason ("NotFound"); empty for kNone.
std::string_view reason_name(Reason reason) noexcept;
// The HTTP code a reason is sent with (metav1 documentation of StatusReason); 500 for kNone.
int reason_code(Reason reason) noexcept;

struct StatusCause {
  std::string reason;
  std::string message;
  std::string field;
};

struct StatusDetails {
  std::string name;
  std::string group;
  std::string kind;
  std::string uid;
  std::vector<StatusCause> causes;
  int retry_after_seconds = 0;
};

// Success, or an error as metav1.Status has it.  Success is one null pointer.
class [[nodiscard]] Status {
 public:
  Status() = default;  // success
  Status(Reason reason, std::string message);
  Status(int code, Reason reason, std::string message);
  Status(const Status& other);
  Status& operator=(const Status& other);
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  bool ok() const noexcept { return body_ == nullptr; }
  explicit operator bool() const noexcept { return ok(); }

  int code() const noexcept { return body_ ? body_->code : 200; }
  Reason reason() const noexcept { return body_ ? body_->reason : Reason::kNone; }
  const std::string& message() const noexcept;
  // Null when the error has no details object at all (upstream prints `"details":{}` for some errors, nothing for others).
  const StatusDetails* details() const noexcept { return body_ && body_->details ? &*body_->details : nullptr; }

  // Changes; asserts !ok().
  Status& with_details(StatusDetails details) &;
  Status&& with_details(StatusDetails details) &&;
  Status& set_message(std::string message);
  // metadata.continue: what a 410 gives for going on with an inconsistent list.
  Status& set_continue_token(std::string token);
  const std::string& continue_token() const noexcept;

  // metav1.Status as canonical JSON with a trailing newline, success included.
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

// A T, or the Status that says why not.
template <class T>
class [[nodiscard]] Result {
 public:
  Result() : status_(Reason::kInternalError, "result was never set") {}
  Result(T value) : value_(std::move(value)) {}                                  // NOLINT: a value is a result
  Result(Status status) : status_(std::move(status)) { assert(!status_.ok()); }  // NOLINT: an error is a result

  bool ok() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  Status& status() & { return status_; }
  const Status& status() const& { return status_; }
  Status&& status() && { return std::move(status_); }

 private:
  std::optional<T> value_;
  Status status_;
};

// The errors upstream builds in apimachinery/pkg/api/errors, worded as there.  `resource` is the plural resource, qualified with
// ".group" in messages when `group` is not empty; `kind` likewise.
Status not_found(std::string_view group, std::string_view resource, std::string_view name);
Status already_exists(std::string_view group, std::string_view resource, std::string_view name);
Status conflict(std::string_view group, std::string_view resource, std::string_view name, std::string_view why);
Status forbidden(std::string_view group, std::string_view resource, std::string_view name, std::string_view why);
Status unauthorized(std::string_view why = "Unauthorized");
Status bad_request(std::string message);
Status internal_error(std::string_view why);  // "Internal error occurred: why", with a cause
Status method_not_allowed(std::string_view group, std::string_view resource, std::string_view action);
Status timeout(std::string message, int retry_after_seconds);
Status expired(std::string message);
Status too_many_requests(std::string message, int retry_after_seconds);
Status service_unavailable(std::string message);
Status request_entity_too_large(std::string message);
// 504 Timeout with cause ResourceVersionTooLarge, as storage.NewTooLargeResourceVersionError.
Status too_large_resource_version(long long wanted, long long current, int retry_after_seconds = 1);

// One problem with one field: apimachinery/pkg/util/validation/field.
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

struct FieldError {
  FieldErrorType type;
  std::string field;  // path, such as spec.containers[0].name; empty is printed as <nil>
  std::string text;   // the message without the path: `Invalid value: "x": must be …`
};

// Problems found in one object, in the order found.  Past kMost of them, or kMostBytes of text, they are only counted.
class FieldErrors {
 public:
  static constexpr std::size_t kMost = 10'000;
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20;

  void required(std::string field, std::string_view detail = {});
  // `value` is printed as upstream prints it: strings quoted; pass printed text for others with invalid_raw.
  void invalid(std::string field, std::string_view value, std::string_view detail);
  void invalid(std::string field, long long value, std::string_view detail);
  void invalid_raw(std::string field, std::string_view printed_value, std::string_view detail);
  void type_invalid(std::string field, std::string_view printed_value, std::string_view detail);
  void not_supported(std::string field, std::string_view value, const std::vector<std::string>& supported);
  void forbidden(std::string field, std::string_view detail);
  void duplicate(std::string field, std::string_view value);
  void duplicate_raw(std::string field, std::string_view printed_value);
  void too_long(std::string field, std::string_view value, long long max_bytes);
  void too_many(std::string field, long long actual, long long max_items);
  void not_found(std::string field, std::string_view value);
  void internal(std::string field, std::string_view detail);
  void add(FieldError error);
  // Those of `others` behind these.
  void add(const FieldErrors& others);
  // So many were found and not kept.
  std::size_t left_out() const noexcept { return left_out_; }

  bool empty() const noexcept { return list_.empty(); }
  std::size_t size() const noexcept { return list_.size(); }
  const std::vector<FieldError>& list() const noexcept { return list_; }

  // Success when empty, else 422 `Kind.group "name" is invalid: …` with one cause each, and the number of those left out at the end.
  Status to_status(std::string_view group, std::string_view kind, std::string_view name) const;
  // "a.b: Required value" or "[x: …, y: …]".
  std::string aggregate_message() const;

 private:
  std::vector<FieldError> list_;
  std::size_t bytes_ = 0;
  std::size_t left_out_ = 0;
};

// Go's %q for the texts that appear in messages.
std::string quoted(std::string_view text);

}  // namespace BACKPLANE_API
