#include "pods/image_review.hpp"

#include <array>
#include <map>

#include "backplane/core/json_access.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::admission::pods {
namespace {

constexpr std::string_view kVersion = "imagepolicy.k8s.io/v1alpha1";
constexpr std::string_view kUnreadableReview = "couldn't get version/kind; json parse error: ";

constexpr std::string_view kReviewSchema = R"({"definitions": {
  "io.k8s.api.imagepolicy.v1alpha1.ImageReviewAnswer": {"type": "object", "properties": {
    "status": {"$ref": "#/definitions/io.k8s.api.imagepolicy.v1alpha1.ImageReviewStatus"}
  }},
  "io.k8s.api.imagepolicy.v1alpha1.ImageReviewStatus": {"type": "object", "properties": {
    "allowed": {"type": "boolean"},
    "reason": {"type": "string"},
    "auditAnnotations": {"type": "object", "additionalProperties": {"type": "string"}}
  }}
}})";

const Schema& review_schema() {
  static const auto set = *SchemaSet::compile(std::array{kReviewSchema});
  return *set->find("io.k8s.api.imagepolicy.v1alpha1.ImageReviewAnswer");
}

void add_images(const Object& spec, std::string_view list, Array& images) {
  each(spec, list, [&](const Object& container, std::size_t) {
    Object& image = images.emplace_back(Object()).get_object();
    const std::string_view name = get_string(container, "image");
    if (!name.empty()) image["image"] = name;
  });
}

// The annotations of the pod for the webhook: their keys contain ".image-policy.k8s.io/".
Object review_annotations(const Object& pod) {
  std::map<std::string, std::string> chosen;
  for (const auto& annotation : object_or_empty(object_or_empty(pod, "metadata"), "annotations")) {
    if (std::string_view(annotation.key()).find(".image-policy.k8s.io/") == std::string_view::npos) continue;
    chosen.emplace(annotation.key(), text_of(annotation.value()));
  }
  Object out;
  for (const auto& [key, value] : chosen) out[key] = value;
  return out;
}

Result<Object> as_answer(const Object& review) {
  Object plain;
  if (const Value* status = find(review, "status")) plain["status"] = *status;
  Value tree = std::move(plain);
  Status status = review_schema().normalize(tree, nullptr);
  if (!status.ok()) return status;
  return std::move(tree.get_object());
}

}  // namespace

std::string image_review_spec(const AdmissionAttributes& attributes) {
  const Object& pod = *attributes.object;
  const Object& pod_spec = object_or_empty(pod, "spec");
  Array images;
  if (attributes.subresource.empty()) {
    for (std::string_view list : {"containers", "initContainers"}) add_images(pod_spec, list, images);
  } else {
    add_images(pod_spec, "ephemeralContainers", images);
  }
  Object spec;
  if (!images.empty()) spec["containers"] = std::move(images);
  Object annotations = review_annotations(pod);
  if (!annotations.empty()) spec["annotations"] = std::move(annotations);
  if (!attributes.ns.empty()) spec["namespace"] = attributes.ns;
  return to_json(spec);
}

std::string image_review(const std::string& spec) {
  return R"({"kind":"ImageReview","apiVersion":")" + std::string(kVersion) + R"(","metadata":{},"spec":)" + spec +
         R"(,"status":{"allowed":false}})" + "\n";
}

Result<Object> read_image_review(std::string_view body) {
  if (body.empty()) return bad_request("0-length response with status code: 200 and content type: ");
  auto parsed = parse_json(body, {}, nullptr);
  if (!parsed.ok()) return bad_request(std::string(kUnreadableReview) + parsed.status().message());
  if (!parsed->is_object()) return bad_request(std::string(kUnreadableReview) + "the response is not an object");
  const Object& review = parsed->get_object();
  const std::string_view kind = get_string(review, "kind"), version = get_string(review, "apiVersion");
  if (kind == "Status" && get_string(review, "status") == "Failure") return bad_request(std::string(get_string(review, "message")));
  if ((!kind.empty() && kind != "ImageReview") || (!version.empty() && version != kVersion)) {
    return bad_request("expected an ImageReview of version " + std::string(kVersion) + ", got kind " + backplane::quoted(kind) +
                       " of version " + backplane::quoted(version));
  }
  return as_answer(review);
}

ImageReviewStatus image_review_status(const Object& review) {
  const Object& status = object_or_empty(review, "status");
  ImageReviewStatus out;
  out.allowed = get_bool(status, "allowed").value_or(false);
  out.reason = get_string(status, "reason");
  for (const auto& annotation : object_or_empty(status, "auditAnnotations")) {
    out.audit_annotations.emplace_back(std::string(annotation.key()), std::string(text_of(annotation.value())));
  }
  return out;
}

}  // namespace backplane::admission::pods
