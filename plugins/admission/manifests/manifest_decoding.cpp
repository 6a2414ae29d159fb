#include "manifests/manifest_decoding.hpp"

#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/core/json_kind.hpp"
#include "backplane/core/request.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/schema.hpp"
#include "registration_kinds.hpp"

namespace backplane::admission::manifests {
namespace {

using admissionregistration::registered_kind;
using admissionregistration::RegisteredKind;

constexpr std::string_view kGroup = "admissionregistration.k8s.io";
constexpr std::string_view kListSuffix = "List";
constexpr const char* kNoKind = "couldn't get version/kind; json parse error: ";
// Kinds that upstream's loaders decode, in v1, v1beta1 and v1alpha1.
constexpr std::array<std::string_view, 6> kKinds = {"MutatingAdmissionPolicy",          "MutatingAdmissionPolicyBinding",
                                                    "MutatingWebhookConfiguration",     "ValidatingAdmissionPolicy",
                                                    "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration"};

GroupVersionKind kind_of(const Object& object) {
  GroupVersion version = GroupVersion::parse(get_string(object, "apiVersion"));
  return {std::move(version.group), std::move(version.version), std::string(get_string(object, "kind"))};
}

std::string item_kind(const std::string& kind) {
  return kind.ends_with(kListSuffix) ? kind.substr(0, kind.size() - kListSuffix.size()) : std::string();
}

bool is_known(const GroupVersionKind& kind) {
  if (kind.group.empty() && kind.version == "v1") return kind.kind == "List" || kind.kind == "Status";
  const std::string item = item_kind(kind.kind);
  const std::string_view plain = item.empty() ? std::string_view(kind.kind) : std::string_view(item);
  return kind.group == kGroup && (kind.version == "v1" || kind.version == "v1beta1" || kind.version == "v1alpha1") &&
         std::find(kKinds.begin(), kKinds.end(), plain) != kKinds.end();
}

Status check_kind(const GroupVersionKind& kind, std::string_view text) {
  const auto missing = [&](const char* what) {
    return bad_request("Object '" + std::string(what) + "' is missing in '" + std::string(text) + "'");
  };
  if (kind.kind.empty()) return missing("Kind");
  if (kind.version.empty()) return missing("apiVersion");
  if (is_known(kind)) return {};
  return bad_request("no kind " + quoted(kind.kind) + " is registered for version " + quoted(kind.group_version().to_string()) +
                     " in scheme \"pkg/runtime/scheme.go:111\"");
}

std::string joined_problems(const std::vector<std::string>& problems) {
  std::string out;
  for (const std::string& each : problems) out.append(out.empty() ? "" : ", ").append(each);
  return out;
}

// Converts the tree of a kind of v1 to its canonical form.
Status normalize(const std::string& kind, Value& tree, DecodeReport& report) {
  const RegisteredKind known = registered_kind(kind);
  return known.schema == nullptr ? Status() : known.schema->normalize(tree, &report);
}

Status normalize_items(const std::string& kind, Object& list, DecodeReport& report) {
  Value* items = find(list, "items");
  if (items == nullptr || !items->is_array()) return {};
  std::size_t place = 0;
  for (Value& item : items->get_array()) {
    DecodeReport of_item;
    if (Status status = normalize(kind, item, of_item); !status.ok()) return status;
    const std::string start = "\"items[" + std::to_string(place++) + "].";
    for (std::string problem : of_item.problems) {
      const auto quote = problem.find('"');
      report.problems.push_back(quote == std::string::npos ? problem : problem.substr(0, quote) + start + problem.substr(quote + 1));
    }
  }
  return {};
}

Result<DecodedManifest> decoded(Value tree, DecodeReport report, std::string_view text) {
  if (!tree.is_object()) {
    if (tree.is_null()) return check_kind({}, text);
    return bad_request(kNoKind + ("json: cannot unmarshal " + std::string(json_kind(tree))) +
                       " into Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                       "\"json:\\\"kind,omitempty\\\"\" }");
  }
  GroupVersionKind kind = kind_of(tree.get_object());
  if (Status known = check_kind(kind, text); !known.ok()) return known;
  if (kind.group == kGroup && kind.version == "v1") {
    const std::string item = item_kind(kind.kind);
    Status shaped = item.empty() ? normalize(kind.kind, tree, report) : normalize_items(item, tree.get_object(), report);
    if (!shaped.ok()) return shaped;
  }
  if (!report.problems.empty()) return bad_request("strict decoding error: " + joined_problems(report.problems));
  return DecodedManifest{std::move(kind), std::move(tree)};
}

}  // namespace

Result<DecodedManifest> decode_manifest(std::string_view text) {
  DecodeReport report;
  const bool is_json = text.starts_with('{');
  auto tree = is_json ? parse_json(text, {}, &report) : parse_yaml(text, {}, &report);
  if (!tree.ok()) return is_json ? bad_request(kNoKind + tree.status().message()) : std::move(tree.status());
  return decoded(std::move(*tree), std::move(report), text);
}

Result<DecodedManifest> decode_item(Value tree) {
  const std::string text = to_json(tree);
  return decoded(std::move(tree), {}, text);
}

std::string go_type(const GroupVersionKind& kind) { return "*" + kind.version + "." + kind.kind; }

Status complete_object(std::string_view kind, Value& tree) {
  const RegisteredKind known = registered_kind(kind);
  known.schema->apply_defaults(tree);
  known.strategy->apply_defaults(tree.get_object());
  if (Status shaped = known.schema->normalize(tree, nullptr); !shaped.ok()) return shaped;
  const Object& object = tree.get_object();
  const KindFacts& facts = known.strategy->facts();
  FieldErrors errors;
  RequestContext context;
  validate_object_meta(object, facts.namespaced, facts.name_rule, errors);
  known.schema->check(object, nullptr, facts.checked, "", errors);
  known.strategy->validate(context, object, errors);
  if (errors.empty()) return {};
  return bad_request(std::string(kind) + " " + quoted(meta_name(object)) + ": " + errors.aggregate_message());
}

}  // namespace backplane::admission::manifests
