#include "review_decoding.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "backplane/core/json_kind.hpp"
#include "backplane/types/schema.hpp"
#include "conversion_review_json.hpp"
#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

constexpr std::string_view kReview = "ConversionReview";
// The name of the Scheme in upstream's messages.
constexpr std::string_view kSchemeName = "pkg/runtime/scheme.go:111";
constexpr std::string_view kNoKind = "couldn't get version/kind; json parse error: ";
constexpr std::size_t kShown = 2048;  // client-go's limit for a text that is not a Status

Status refused(std::string message) { return Status(500, Reason::kNone, std::move(message)); }

// The other kinds of that Scheme: those of v1 and v1beta1 of apiextensions.k8s.io, and those of v1 of the legacy group.
constexpr std::array<std::string_view, 9> kGroupKinds = {"CustomResourceDefinition",
                                                         "CustomResourceDefinitionList",
                                                         "CreateOptions",
                                                         "DeleteOptions",
                                                         "GetOptions",
                                                         "ListOptions",
                                                         "PatchOptions",
                                                         "UpdateOptions",
                                                         "WatchEvent"};
constexpr std::array<std::string_view, 5> kCommonKinds = {"APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "Status"};

template <class Kinds>
bool has(const Kinds& kinds, std::string_view kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// The name of Go's type for a kind of the Scheme; empty: it has no such kind.
std::string go_type_of(const GroupVersionKind& kind) {
  const bool review = kind.version == "v1" || kind.version == "v1beta1";
  if (kind.group == kGroup && review && kind.kind == kReview) return kind.version + "." + kind.kind;
  if (kind.group == kGroup && review && has(kGroupKinds, kind.kind))
    return (kind.kind.starts_with("Custom") ? kind.version : std::string("v1")) + "." + kind.kind;
  if (kind.group.empty() && kind.version == "v1" && has(kCommonKinds, kind.kind)) return "v1." + kind.kind;
  return {};
}

Result<Value> parse(std::string_view text, const json::storage_ptr& storage) {
  DecodeReport report;
  report.merge_duplicates = false;
  const std::size_t begin = text.find_first_not_of(" \t\r\n\v\f");
  if (begin == std::string_view::npos || text[begin] != '{') return parse_yaml(text, storage, &report);
  auto parsed = parse_json(text, storage, &report);
  if (!parsed.ok()) return refused(std::string(kNoKind) + parsed.status().message());
  return parsed;
}

// The apiVersion and kind that the text contains.
Result<GroupVersionKind> kind_of(const Value& value) {
  if (value.is_null()) return GroupVersionKind();
  if (!value.is_object()) {
    return refused(std::string(kNoKind) + "json: cannot unmarshal " + std::string(json_kind(value)) +
                   " into Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; "
                   "Kind string \"json:\\\"kind,omitempty\\\"\" }");
  }
  for (const std::string_view word : {"apiVersion", "kind"}) {
    const Value* member = find(value.get_object(), word);
    if (member == nullptr || member->is_string() || member->is_null()) continue;
    return refused(std::string(kNoKind) + "json: cannot unmarshal " + std::string(json_kind(*member)) + " into Go struct field ." +
                   std::string(word) + " of type string");
  }
  const std::string_view api_version = get_string(value.get_object(), "apiVersion");
  if (std::count(api_version.begin(), api_version.end(), '/') > 1)
    return refused("unexpected GroupVersion string: " + std::string(api_version));
  const GroupVersion version = GroupVersion::parse(api_version);
  return GroupVersionKind{version.group, version.version, std::string(get_string(value.get_object(), "kind"))};
}

// Missing parts are taken from the expected kind.
GroupVersionKind with_defaults(GroupVersionKind kind, const GroupVersionKind& expected) {
  if (kind.kind.empty()) kind.kind = expected.kind;
  if (kind.version.empty() && (kind.group.empty() || kind.group == expected.group)) {
    kind.group = expected.group;
    kind.version = expected.version;
  }
  return kind;
}

const SchemaSet& review_types() {
  static const std::shared_ptr<const SchemaSet> kTypes = [] {
    const std::array<std::string_view, 1> documents = {conversion_review_json()};
    return *SchemaSet::embedded(documents);
  }();
  return *kTypes;
}

// Checks the types of all members except the converted objects.
Status check_types(Object& review, const GroupVersionKind& kind) {
  Value* response = find(review, "response");
  Value* objects = response != nullptr && response->is_object() ? find(response->get_object(), "convertedObjects") : nullptr;
  Value kept(review.storage());
  const bool has_objects = objects != nullptr && objects->is_array();
  if (has_objects) std::swap(kept, *objects);
  Value whole(std::move(review));
  Status normal = review_types().find(kind)->normalize(whole, nullptr);
  review = std::move(whole.get_object());
  if (!normal.ok()) return refused(normal.message());
  if (has_objects) ensure_object(review, "response")["convertedObjects"] = std::move(kept);
  return {};
}

}  // namespace

Result<Object> decode_review(std::string_view text, std::string_view version, json::storage_ptr storage) {
  auto parsed = parse(text, storage);
  if (!parsed.ok()) return refused(parsed.status().message());
  const auto declared = kind_of(*parsed);
  if (!declared.ok()) return declared.status();
  const GroupVersionKind expected{std::string(kGroup), std::string(version), std::string(kReview)};
  const GroupVersionKind kind = with_defaults(*declared, expected);
  if (kind.version.empty()) return refused("Object 'apiVersion' is missing in '" + std::string(text) + "'");
  const std::string type = go_type_of(kind);
  if (type.empty()) {
    return refused("no kind " + backplane::quoted(kind.kind) + " is registered for version " +
                   backplane::quoted(kind.group_version().to_string()) + " in scheme " + backplane::quoted(kSchemeName));
  }
  if (!parsed->is_object()) return Object(storage);
  Object& review = parsed->get_object();
  if (kind.kind == kReview) {
    Status types = check_types(review, kind);
    if (!types.ok()) return types;
  }
  if (kind != expected)
    return refused("converting (" + type + ") to (" + std::string(version) + "." + std::string(kReview) + "): unknown conversion");
  return std::move(review);
}

// ---- responses with an error

namespace {

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin));
}

// client-go's error for an unsuccessful response without a Status (NewGenericServerResponse).
std::string code_message(int code, const std::string& text) {
  struct Row {
    int code;
    std::string_view message;
  };
  constexpr Row kRows[] = {
      {400, "the server rejected our request for an unknown reason"},
      {401, "the server has asked for the client to provide credentials"},
      {404, "the server could not find the requested resource"},
      {405, "the server does not allow this method on the requested resource"},
      {409, "the server reported a conflict"},
      {422, "the server rejected our request due to an error in our request"},
      {429, "the server has received too many requests and has asked us to try again later"},
      {503, "the server is currently unable to handle the request"},
      {504, "the server was unable to return a response in the time allotted, but may still be processing the request"}};
  const auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& each) { return each.code == code; });
  if (row != std::end(kRows)) return std::string(row->message);
  if (code == 406 && (text.empty() || text == "unknown"))
    return "the server was unable to respond with a content type that the client supports";
  if (code == 403 || code == 406 || code == 415) return text;
  if (code >= 500) return "an error on the server (" + backplane::quoted(text) + ") has prevented the request from succeeding";
  return "the server responded with the status code " + std::to_string(code) + " but did not return more information";
}

// The message of a failed Status in the body; nullopt: there is none.
std::optional<std::string> failure_message(std::string_view body) {
  const GroupVersionKind wanted{"", "v1", "Status"};
  auto parsed = parse(body, json::make_shared_resource<json::monotonic_resource>());
  if (!parsed.ok() || !parsed->is_object()) return std::nullopt;
  const auto declared = kind_of(*parsed);
  if (!declared.ok() || declared->kind.empty() || with_defaults(*declared, wanted) != wanted) return std::nullopt;
  if (!meta_schemas()->find(wanted)->normalize(*parsed, nullptr).ok()) return std::nullopt;
  const Object& status = parsed->get_object();
  if (get_string(status, "status") != "Failure") return std::nullopt;
  return std::string(get_string(status, "message"));
}

}  // namespace

std::string error_answer_message(int code, std::string_view content_type, std::string_view body) {
  if (auto message = failure_message(body)) return std::move(*message);
  const bool text = content_type.empty() || content_type.starts_with("text/");
  return code_message(code, text ? trimmed(body.substr(0, kShown)) : std::string("unknown"));
}

}  // namespace backplane::apiextensions
