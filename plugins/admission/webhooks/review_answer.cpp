#include "webhooks/review_answer.hpp"

#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/types/base64.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::admission::webhooks {
namespace {

constexpr std::size_t kMostErrorText = 2048;  // client-go's maxUnstructuredResponseTextBytes

WebhookFailure call_failure(std::string why, int code = 503) { return {"failed to call webhook: " + std::move(why), code}; }
WebhookFailure invalid_answer(std::string why) { return {"received invalid webhook response: " + std::move(why), 503}; }

// ---- responses with an error code

std::string trimmed_text(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin));
}

struct CodeMessage {
  int code;
  std::string_view message;
};
constexpr std::array<CodeMessage, 9> kCodeMessages = {{
    {400, "the server rejected our request for an unknown reason"},
    {401, "the server has asked for the client to provide credentials"},
    {404, "the server could not find the requested resource"},
    {405, "the server does not allow this method on the requested resource"},
    {409, "the server reported a conflict"},
    {422, "the server rejected our request due to an error in our request"},
    {429, "the server has received too many requests and has asked us to try again later"},
    {503, "the server is currently unable to handle the request"},
    {504, "the server was unable to return a response in the time allotted, but may still be processing the request"},
}};

// Like errors.NewGenericServerResponse.
std::string generic_message(int code, const std::string& text) {
  const auto row = std::find_if(kCodeMessages.begin(), kCodeMessages.end(), [&](const CodeMessage& each) { return each.code == code; });
  if (row != kCodeMessages.end()) return std::string(row->message);
  if (code == 406 && (text.empty() || text == "unknown")) {
    return "the server was unable to respond with a content type that the client supports";
  }
  if (code == 403 || code == 406 || code == 415) return text;
  if (code >= 500) return "an error on the server (" + backplane::quoted(text) + ") has prevented the request from succeeding";
  return "the server responded with the status code " + std::to_string(code) + " but did not return more information";
}

// The failed Status that the body contains; empty if the body is no such Status.
Object failure_status(std::string_view body) {
  auto parsed = parse_json(body, json::storage_ptr(), nullptr);
  if (!parsed.ok() || !parsed->is_object()) return {};
  if (get_string(parsed->get_object(), "kind") != "Status") return {};
  const GroupVersionKind kind{"", "v1", "Status"};
  if (!meta_schemas()->find(kind)->normalize(*parsed, nullptr).ok()) return {};
  return get_string(parsed->get_object(), "status") == "Failure" ? std::move(parsed->get_object()) : Object();
}

WebhookFailure error_answer(const WebhookAnswer& answer) {
  const Object status = failure_status(answer.body);
  if (!status.empty()) {
    return call_failure(std::string(get_string(status, "message")), static_cast<int>(get_int(status, "code").value_or(0)));
  }
  const bool text = answer.content_type.empty() || answer.content_type.starts_with("text/");
  const std::string shown = text ? trimmed_text(std::string_view(answer.body).substr(0, kMostErrorText)) : std::string("unknown");
  return call_failure(generic_message(answer.code, shown), answer.code);
}

// ---- the review

std::string kind_text(std::string_view api_version, std::string_view kind) {
  const GroupVersion version = GroupVersion::parse(api_version);
  return version.group + "/" + version.version + ", Kind=" + std::string(kind);
}

// The reason why the response is invalid; empty: it is valid. Reviews of v1beta1 are not verified.
std::string v1_problem(const Object& review, const Object& response, std::string_view uid) {
  const std::string_view got = get_string(response, "uid");
  if (got != uid) return "expected response.uid=" + backplane::quoted(uid) + ", got " + backplane::quoted(got);
  const std::string wanted = kind_text("admission.k8s.io/v1", "AdmissionReview");
  const std::string kind = kind_text(get_string(review, "apiVersion"), get_string(review, "kind"));
  return kind == wanted ? std::string() : "expected webhook response of " + wanted + ", got " + kind;
}

std::string v1_patch_problem(bool has_patch, const Value* type, bool mutating) {
  if (!mutating && has_patch) return "validating webhook may not return response.patch";
  if (!mutating) return type != nullptr ? "validating webhook may not return response.patchType" : "";
  if (has_patch && type == nullptr) return "webhook returned response.patch but not response.patchType";
  if (!has_patch && type != nullptr) return "webhook returned response.patchType but not response.patch";
  return type != nullptr && text_of(*type).empty() ? "webhook returned invalid response.patchType of \"\"" : "";
}

const Value* unless_null(const Value* value) noexcept { return value != nullptr && !value->is_null() ? value : nullptr; }

void take_lists(const Object& response, ReviewAnswer& out) {
  for (const auto& annotation : object_or_empty(response, "auditAnnotations")) {
    out.audit_annotations.emplace_back(annotation.key(), text_of(annotation.value()));
  }
  std::sort(out.audit_annotations.begin(), out.audit_annotations.end());
  out.warnings = texts_of(response, "warnings");
  if (const Object* result = get_object(response, "status")) out.result = *result;
}

ReadAnswer verify_review(const Object& review, std::string_view version, std::string_view uid, bool mutating) {
  const Object* response = get_object(review, "response");
  if (response == nullptr) return invalid_answer("webhook response was absent");
  ReviewAnswer out;
  out.allowed = get_bool(*response, "allowed").value_or(false);
  auto patch = from_base64(get_string(*response, "patch"));
  if (!patch) return call_failure("illegal base64 data in response.patch");
  const Value* type = unless_null(find(*response, "patchType"));
  if (version == "v1") {
    if (std::string problem = v1_problem(review, *response, uid); !problem.empty()) return invalid_answer(std::move(problem));
    if (std::string problem = v1_patch_problem(!patch->empty(), type, mutating); !problem.empty())
      return invalid_answer(std::move(problem));
  }
  if (mutating && !patch->empty()) {
    out.patch_type = version == "v1" ? std::string(text_of(*type)) : "JSONPatch";
    out.patch = std::move(*patch);
  }
  take_lists(*response, out);
  return out;
}

Reason reason_named(std::string_view name) noexcept {
  for (unsigned value = 0; value <= static_cast<unsigned>(Reason::kServiceUnavailable); ++value) {
    const auto reason = static_cast<Reason>(value);
    if (!name.empty() && reason_name(reason) == name) return reason;
  }
  return Reason::kNone;
}

StatusDetails read_details(const Object& details) {
  StatusDetails out;
  out.name = get_string(details, "name");
  out.group = get_string(details, "group");
  out.kind = get_string(details, "kind");
  out.uid = get_string(details, "uid");
  out.retry_after_seconds = static_cast<int>(get_int(details, "retryAfterSeconds").value_or(0));
  each(details, "causes", [&](const Object& cause, std::size_t) {
    out.causes.push_back(
        {std::string(get_string(cause, "reason")), std::string(get_string(cause, "message")), std::string(get_string(cause, "field"))});
  });
  return out;
}

}  // namespace

ReadAnswer read_review_answer(const WebhookAnswer& answer, std::string_view version, std::string_view uid, bool mutating) {
  if (answer.code < 200 || answer.code > 206) return error_answer(answer);
  if (answer.body.empty()) {
    const std::string type = answer.content_type.empty() ? "application/json" : answer.content_type;
    return call_failure("0-length response with status code: " + std::to_string(answer.code) + " and content type: " + type);
  }
  auto review = decode_admission_review(answer.body, version, json::make_shared_resource<json::monotonic_resource>());
  if (!review.ok()) return call_failure(review.status().message());
  return verify_review(*review, version, uid, mutating);
}

Status denied_by(std::string_view webhook, const Object& result) {
  const std::string denied = "admission webhook " + backplane::quoted(webhook) + " denied the request";
  const std::string_view message = get_string(result, "message"), reason = get_string(result, "reason");
  const std::string_view shown = !message.empty() ? message : reason;
  const int code = static_cast<int>(std::max<std::int64_t>(get_int(result, "code").value_or(0), 400));
  Status out(code, reason_named(reason), shown.empty() ? denied + " without explanation" : denied + ": " + std::string(shown));
  if (const Object* details = get_object(result, "details")) out.with_details(read_details(*details));
  return out;
}

}  // namespace backplane::admission::webhooks
