#include "webhooks/review_request.hpp"

#include "common/request_fields.hpp"

namespace backplane::admission::webhooks {
namespace {

void append_object_or_null(std::string& out, const Object* object) {
  if (object != nullptr) {
    append_json(out, *object);
  } else {
    out += "null";
  }
}

}  // namespace

std::string EncodedReview::body(std::string_view uid) const {
  std::string out;
  out.reserve(head.size() + uid.size() + 2 + tail.size());
  out.append(head);
  append_json_string(out, uid);
  out.append(tail);
  return out;
}

EncodedReview encode_review(std::string_view version, const AdmissionAttributes& attributes, const ServedAs& target, const Object* object,
                            const Object* old_object) {
  EncodedReview out;
  out.head = "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/" + std::string(version) + "\",\"request\":{\"uid\":";
  const auto storage = json::make_shared_resource<json::monotonic_resource>();
  const Object request = request_fields(attributes, target.resource, target.kind, storage);
  for (const auto& member : request) {
    if (member.key() == "uid") continue;
    if (member.key() == "dryRun") {
      out.tail += ",\"object\":";
      append_object_or_null(out.tail, object);
      out.tail += ",\"oldObject\":";
      append_object_or_null(out.tail, old_object);
    }
    out.tail += ',';
    append_json_string(out.tail, member.key());
    out.tail += ':';
    append_json(out.tail, member.value());
  }
  out.tail += "}}\n";
  return out;
}

}  // namespace backplane::admission::webhooks
