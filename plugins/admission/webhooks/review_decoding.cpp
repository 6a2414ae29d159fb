// Decodes the body of a response as the codec of upstream's webhook client does.
#include <algorithm>
#include <array>
#include <memory>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/types/schema.hpp"
#include "webhooks/review_answer.hpp"
#include "webhooks/stated_kind.hpp"

namespace backplane::admission::webhooks {
namespace {

constexpr std::string_view kReviewGroup = "admission.k8s.io";
constexpr std::string_view kReviewKind = "AdmissionReview";
// The name of the Scheme in upstream's messages.
constexpr std::string_view kHookScheme = "pkg/runtime/scheme.go:111";

// One schema for both versions; "$version" is replaced.
constexpr std::string_view kReviewSchema = R"({"definitions": {
"io.k8s.api.admission.$version.AdmissionResponse": {"type": "object", "properties": {
  "uid": {"type": "string", "x-backplane-go-type": "types.UID"},
  "allowed": {"type": "boolean"},
  "status": {"allOf": [{"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Status"}], "x-backplane-pointer": true},
  "patch": {"type": "string", "format": "byte"},
  "patchType": {"type": "string", "x-backplane-go-type": "$version.PatchType", "x-backplane-pointer": true},
  "auditAnnotations": {"type": "object", "additionalProperties": {"type": "string"}},
  "warnings": {"type": "array", "items": {"type": "string"}}}},
"io.k8s.api.admission.$version.AdmissionReview": {
  "x-kubernetes-group-version-kind": [{"group": "admission.k8s.io", "kind": "AdmissionReview", "version": "$version"}],
  "type": "object", "properties": {
  "TypeMeta": {"allOf": [{"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta"}], "x-backplane-inline": true},
  "response": {"allOf": [{"$ref": "#/definitions/io.k8s.api.admission.$version.AdmissionResponse"}], "x-backplane-pointer": true}}}}})";

std::string review_schema(std::string_view version) {
  constexpr std::string_view kPlace = "$version";
  std::string text(kReviewSchema);
  for (std::size_t at = text.find(kPlace); at != std::string::npos; at = text.find(kPlace, at)) {
    text.replace(at, kPlace.size(), version);
  }
  return text;
}

const Schema& review_type(std::string_view version) {
  static const auto kSets = [] {
    std::array<std::shared_ptr<const SchemaSet>, 2> sets;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const std::string text = review_schema(i == 0 ? "v1" : "v1beta1");
      const std::array<std::string_view, 1> documents = {text};
      sets[i] = *SchemaSet::compile(documents);
    }
    return sets;
  }();
  const GroupVersionKind kind{std::string(kReviewGroup), std::string(version), std::string(kReviewKind)};
  return *kSets[version == "v1" ? 0 : 1]->find(kind);
}

// Go's type for a kind of the client's Scheme; empty if the Scheme does not have the kind.
std::string go_type_in_scheme(const GroupVersionKind& kind) {
  static constexpr std::array<std::string_view, 7> kOptions = {"CreateOptions", "DeleteOptions", "GetOptions", "ListOptions",
                                                               "PatchOptions",  "UpdateOptions", "WatchEvent"};
  static constexpr std::array<std::string_view, 5> kUnversioned = {"APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "Status"};
  const auto among = [&](const auto& kinds) { return std::find(kinds.begin(), kinds.end(), kind.kind) != kinds.end(); };
  const bool served = kind.group == kReviewGroup && (kind.version == "v1" || kind.version == "v1beta1");
  if (served && kind.kind == kReviewKind) return kind.version + "." + kind.kind;
  if ((served && among(kOptions)) || (kind.group.empty() && kind.version == "v1" && among(kUnversioned))) return "v1." + kind.kind;
  return {};
}

Result<Value> parse_answer(std::string_view text, const json::storage_ptr& storage) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n\v\f");
  if (begin == std::string_view::npos || text[begin] != '{') return parse_yaml(text, storage, nullptr);
  auto parsed = parse_json(text, storage, nullptr);
  if (!parsed.ok()) return undecodable(std::string(kKindParseError) + parsed.status().message());
  return parsed;
}

}  // namespace

Result<Object> decode_admission_review(std::string_view text, std::string_view version, json::storage_ptr storage) {
  auto parsed = parse_answer(text, storage);
  if (!parsed.ok()) return std::move(parsed.status());
  const auto stated = stated_kind(*parsed);
  if (!stated.ok()) return stated.status();
  const GroupVersionKind expected{std::string(kReviewGroup), std::string(version), std::string(kReviewKind)};
  const GroupVersionKind kind = completed_kind(*stated, expected);
  if (kind.version.empty()) return undecodable("Object 'apiVersion' is missing in '" + std::string(text) + "'");
  const std::string type = go_type_in_scheme(kind);
  if (type.empty()) {
    return undecodable("no kind " + backplane::quoted(kind.kind) + " is registered for version " +
                       backplane::quoted(kind.group_version().to_string()) + " in scheme " + backplane::quoted(kHookScheme));
  }
  if (kind != expected) {
    return undecodable("converting (" + type + ") to (" + std::string(version) + "." + std::string(kReviewKind) + "): unknown conversion");
  }
  if (!parsed->is_object()) return Object(storage);
  // Some servers return the request, too; it is ignored.
  erase_member(parsed->get_object(), "request");
  Status normal = review_type(version).normalize(*parsed, nullptr);
  if (!normal.ok()) return undecodable(normal.message());
  return std::move(parsed->get_object());
}

}  // namespace backplane::admission::webhooks
