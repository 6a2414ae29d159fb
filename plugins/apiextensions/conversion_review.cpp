#include "conversion_review.hpp"

#include <optional>

#include "backplane/core/json_kind.hpp"
#include "backplane/types/json_reading.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/schema.hpp"
#include "definition.hpp"
#include "review_decoding.hpp"

namespace backplane::apiextensions {
namespace {

constexpr std::string_view kKind = "ConversionReview";

std::string go_type(const Value& value) {
  switch (value.kind()) {
    case json::kind::object:
      return "map[string]interface {}";
    case json::kind::array:
      return "[]interface {}";
    case json::kind::string:
      return "string";
    case json::kind::bool_:
      return "bool";
    case json::kind::double_:
      return "float64";
    case json::kind::null:
      return "<nil>";
    default:
      return "int64";
  }
}

std::string version_kind(std::string_view api_version, std::string_view kind) {
  return kind_text({GroupVersion::parse(api_version).group, GroupVersion::parse(api_version).version, std::string(kind)});
}

// ---- the response as a whole

// The reason why the review is invalid; empty: response.convertedObjects can be read.
std::string review_problem(const ReviewQuestion& question, const Object& review) {
  const bool strict = question.version == "v1";
  const std::string wanted = version_kind(std::string(kGroup) + "/" + question.version, kKind);
  const std::string got = version_kind(get_string(review, "apiVersion"), get_string(review, "kind"));
  if (strict && got != wanted) return "expected webhook response of " + wanted + ", got " + got;
  const Object* response = get_object(review, "response");
  if (response == nullptr) return "no response provided";
  const std::string_view uid = get_string(*response, "uid");
  if (strict && uid != question.uid) return "expected response.uid=" + backplane::quoted(question.uid) + ", got " + quoted(uid);
  const Object& result = object_or_empty(*response, "result");
  const std::string_view status = get_string(result, "status");
  if (status == "Success") return {};
  const std::string_view message = get_string(result, "message");
  if (!message.empty()) return std::string(message);
  return "response.result.status was '" + std::string(status) + "', not 'Success'";
}

// ---- one object

std::string identity_problem(const Object& in, const Object& out) {
  struct Member {
    std::string_view key, words;
  };
  constexpr Member kMembers[] = {{"name", "name"}, {"namespace", "namespace"}, {"uid", "UID"}};
  for (const Member& member : kMembers) {
    const std::string_view before = meta_text(in, member.key), now = meta_text(out, member.key);
    if (before == now) continue;
    return "must have the same " + std::string(member.words) + ": " + std::string(before) + " != " + std::string(now);
  }
  return {};
}

// Checks changed labels or annotations of the converted object.
std::string texts_problem(std::string_view key, const Value& converted, const Value* before) {
  if (!converted.is_object()) return "invalid metadata." + std::string(key) + " of type " + go_type(converted) + " in converted object";
  for (const auto& [name, text] : converted.get_object()) {
    if (text.is_string()) continue;
    return "metadata." + std::string(key) + "[" + std::string(name) + "] must be a string, but is " + go_type(text) +
           " in converted object";
  }
  if (before != nullptr && *before == converted) return {};
  FieldErrors errors;
  if (key == "labels")
    validate_labels(converted.get_object(), "metadata.labels", errors);
  else
    validate_annotations(converted.get_object(), "metadata.annotation", errors);
  return errors.empty() ? std::string() : errors.aggregate_message();
}

// Copies the metadata of the original object to the converted one, except labels and annotations.
std::string restore_metadata(const Object& in, Object& out) {
  const Value* metadata = find(out, "metadata");
  if (metadata == nullptr) return "missing metadata in converted object";
  if (!metadata->is_object()) return "invalid metadata of type " + go_type(*metadata) + " in converted object";
  const Object* had = get_object(in, "metadata");
  Object restored = had != nullptr ? Object(*had, out.storage()) : Object(out.storage());
  for (const std::string_view key : {"labels", "annotations"}) {
    const Value* texts = find(metadata->get_object(), key);
    if (texts == nullptr || texts->is_null()) {
      erase_member(restored, key);
      continue;
    }
    std::string problem = texts_problem(key, *texts, had != nullptr ? find(*had, key) : nullptr);
    if (!problem.empty()) return problem;
    restored[key] = *texts;
  }
  out["metadata"] = std::move(restored);
  return {};
}

// Reads the objects of the response one by one. As upstream, errors have another text if there is only one object.
class Objects {
 public:
  Objects(const ReviewQuestion& question, std::span<const Object> asked, ReviewAnswer& answer)
      : question_(question), asked_(asked), answer_(answer), start_("conversion webhook for " + question.from_kind) {}

  void read(Value& value) {
    const std::size_t i = answer_.objects.size();
    const Object& in = asked_[i];
    // Upstream's decoder gets no text for null.
    if (value.is_null()) return unread(i, "unexpected end of JSON input");
    if (!value.is_object())
      return unread(i, "json: cannot unmarshal " + std::string(json_kind(value)) + " into Go value of type map[string]interface {}");
    Object& out = value.get_object();
    const std::string_view kind = get_string(out, "kind"), wanted = get_string(in, "kind");
    if (kind.empty()) return unread(i, "Object 'Kind' is missing in '" + to_json(out) + "'");
    const std::string got = GroupVersion::parse(get_string(out, "apiVersion")).to_string();
    if (got != question_.desired) return refuse(i, "invalid groupVersion (expected " + question_.desired + ", received " + got + ")");
    if (kind != wanted) return refuse(i, "invalid kind (expected " + std::string(wanted) + ", received " + std::string(kind) + ")");
    const std::string changed = identity_problem(in, out);
    if (!changed.empty()) return fail(single() ? " returned invalid object: " : indexed(i, "invalid converted object"), changed);
    const std::string metadata = restore_metadata(in, out);
    if (!metadata.empty()) return fail(single() ? " returned invalid metadata: " : indexed(i, "invalid metadata in object"), metadata);
    answer_.objects.push_back(std::move(out));
  }

 private:
  bool single() const { return asked_.size() == 1; }
  static std::string indexed(std::size_t i, std::string_view what) {
    return " returned " + std::string(what) + " at index " + std::to_string(i) + ": ";
  }
  // For a single object, upstream reports only the reason.
  void unread(std::size_t i, const std::string& why) {
    if (!single()) return refuse(i, why);
    answer_.fault = ReviewFault::kInvalidObject;
    answer_.problem = why;
  }
  void refuse(std::size_t i, const std::string& why) {
    fail(single() ? indexed(0, "invalid object") : indexed(i, "invalid converted object"), why);
  }
  void fail(const std::string& what, const std::string& why) {
    answer_.fault = ReviewFault::kInvalidObject;
    answer_.problem = start_ + what + why;
  }

  const ReviewQuestion& question_;
  const std::span<const Object> asked_;
  ReviewAnswer& answer_;
  const std::string start_;
};

ReviewAnswer failed(const ReviewQuestion& question, ReviewFault fault, const std::string& why) {
  ReviewAnswer answer;
  answer.fault = fault;
  answer.problem = "conversion webhook for " + question.from_kind + " failed: " + why;
  return answer;
}

}  // namespace

std::string_view fault_name(ReviewFault fault) noexcept {
  switch (fault) {
    case ReviewFault::kCall:
      return "conversion_webhook_call_failure";
    case ReviewFault::kMalformed:
      return "conversion_webhook_malformed_response_failure";
    case ReviewFault::kPartial:
      return "conversion_webhook_partial_response_failure";
    case ReviewFault::kInvalidObject:
      return "conversion_webhook_invalid_converted_object_failure";
    case ReviewFault::kNone:
      break;
  }
  return {};
}

std::string choose_review(const std::vector<std::string>& versions) {
  for (const std::string& version : versions) {
    if (version == "v1" || version == "v1beta1") return version;
  }
  return {};
}

std::string kind_text(const GroupVersionKind& kind) { return kind.group + "/" + kind.version + ", Kind=" + kind.kind; }

std::string ask(const ReviewQuestion& question, std::span<const Object> objects) {
  std::string body = "{\"kind\":\"" + std::string(kKind) + "\",\"apiVersion\":\"" + std::string(kGroup) + "/" + question.version +
                     "\",\"request\":{\"uid\":";
  append_json_string(body, question.uid);
  body += ",\"desiredAPIVersion\":";
  append_json_string(body, question.desired);
  body += ",\"objects\":[";
  for (const Object& object : objects) {
    if (&object != &objects.front()) body += ',';
    append_json(body, object);
  }
  body += "]},\"response\":{\"uid\":\"\",\"convertedObjects\":null,\"result\":{\"metadata\":{}}}}";
  return body;
}

ReviewAnswer read_answer(const ReviewQuestion& question, std::span<const Object> asked, const WebhookAnswer& got) {
  if (got.body.empty()) {
    return failed(question, ReviewFault::kCall,
                  "0-length response with status code: " + std::to_string(got.code) + " and content type: " + got.content_type);
  }
  auto decoded = decode_review(got.body, question.version, json::make_shared_resource<json::monotonic_resource>());
  if (!decoded.ok()) return failed(question, ReviewFault::kCall, decoded.status().message());
  Object& review = *decoded;
  const std::string problem = review_problem(question, review);
  if (!problem.empty()) return failed(question, ReviewFault::kMalformed, problem);
  Array none;
  Value* list = find(*find(review, "response")->if_object(), "convertedObjects");
  Array& converted = list != nullptr && list->is_array() ? list->get_array() : none;
  ReviewAnswer answer;
  if (converted.size() != asked.size()) {
    answer.fault = ReviewFault::kPartial;
    answer.problem = "conversion webhook for " + question.from_kind + " returned " + std::to_string(converted.size()) +
                     " objects, expected " + std::to_string(asked.size());
    return answer;
  }
  Objects objects(question, asked, answer);
  for (Value& value : converted) {
    objects.read(value);
    if (answer.fault != ReviewFault::kNone) break;
  }
  return answer;
}

}  // namespace backplane::apiextensions
