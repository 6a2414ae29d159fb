#include "endpoints/errors.hpp"

namespace backplane::endpoints {
namespace {

constexpr std::string_view kAvailable = "\n\nAvailable representations: ";

// Like apimachinery's NewGenericServerResponse: details are present but empty.
Status generic(Reason reason, std::string message) { return Status(reason, std::move(message)).with_details(StatusDetails()); }

std::string joined(std::string_view a, std::string_view b, std::string_view c = {}) {
  std::string out;
  out.reserve(a.size() + b.size() + c.size());
  return out.append(a).append(b).append(c);
}

constexpr std::string_view kServed = "application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor";
constexpr std::string_view kStreams =
    "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch, application/cbor-seq";

// CBOR is the last type of both lists.
std::string_view offered(std::string_view types, bool cbor) { return cbor ? types : types.substr(0, types.rfind(", ")); }

}  // namespace

std::string_view served_types(bool cbor) { return offered(kServed, cbor); }
std::string_view stream_types(bool cbor) { return offered(kStreams, cbor); }

Status method_not_routed() { return generic(Reason::kMethodNotAllowed, "the server does not allow this method on the requested resource"); }

Status not_routed() { return generic(Reason::kNotFound, "the server could not find the requested resource"); }

Status not_acceptable_types(std::string_view types) {
  return not_acceptable(joined("only the following media types are accepted: ", types));
}

Status not_acceptable(std::string message) { return Status(Reason::kNotAcceptable, std::move(message)); }

Status route_not_acceptable(std::string_view types) {
  return generic(Reason::kNotAcceptable, joined("406: Not Acceptable", kAvailable, types));
}

Status route_unsupported(std::string_view types) {
  return generic(Reason::kUnsupportedMediaType, joined("415: Unsupported Media Type", kAvailable, types));
}

Status route_unsupported_media_type() { return generic(Reason::kUnsupportedMediaType, "415: Unsupported Media Type"); }

Status unsupported_media_type(std::string_view types) {
  return Status(Reason::kUnsupportedMediaType,
                joined("the body of the request was in an unknown format - accepted media types include: ", types));
}

Status recovered() { return generic(Reason::kInternalError, "an error on the server (\"\") has prevented the request from succeeding"); }

Status entity_too_large(std::string_view why) { return Status(Reason::kRequestEntityTooLarge, joined("Request entity too large: ", why)); }

Status patch_does_not_apply() { return generic(Reason::kInvalid, "the server rejected our request due to an error in our request"); }

Status invalid_patch(std::string_view patched, std::string_view why) {
  FieldErrors errors;
  errors.invalid("patch", patched, why);
  return errors.to_status("", "", "");
}

}  // namespace backplane::endpoints
