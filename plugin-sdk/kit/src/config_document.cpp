#include "backplane/kit/config_document.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

#include "backplane/core/json_kind.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

// The kinds in upstream's scheme of configuration files. The kind of a document is known if it is one of them, even if the flag expects a
// different kind.
struct KnownConfig {
  std::string_view version, kind;
};
constexpr std::array<KnownConfig, 13> kKnownConfigs{{{"apiserver.config.k8s.io/v1", "AdmissionConfiguration"},
                                                     {"apiserver.config.k8s.io/v1", "AuthenticationConfiguration"},
                                                     {"apiserver.config.k8s.io/v1", "AuthorizationConfiguration"},
                                                     {"apiserver.config.k8s.io/v1", "EncryptionConfiguration"},
                                                     {"apiserver.config.k8s.io/v1", "TracingConfiguration"},
                                                     {"apiserver.config.k8s.io/v1beta1", "AuthenticationConfiguration"},
                                                     {"apiserver.config.k8s.io/v1beta1", "AuthorizationConfiguration"},
                                                     {"apiserver.config.k8s.io/v1beta1", "TracingConfiguration"},
                                                     {"apiserver.config.k8s.io/v1alpha1", "AuthenticationConfiguration"},
                                                     {"apiserver.config.k8s.io/v1alpha1", "AuthorizationConfiguration"},
                                                     {"apiserver.config.k8s.io/v1alpha1", "TracingConfiguration"},
                                                     {"apiserver.k8s.io/v1beta1", "EgressSelectorConfiguration"},
                                                     {"apiserver.k8s.io/v1alpha1", "AdmissionConfiguration"}}};

constexpr std::string_view kNoTypeMeta = "couldn't get version/kind; json parse error: ";
constexpr std::string_view kTypeMetaStruct =
    R"(struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" })";

std::string with_version(std::string_view schema, std::string_view version) {
  constexpr std::string_view kPlaceholder = "$version";
  std::string out;
  for (std::size_t begin = 0;;) {
    const std::size_t found = schema.find(kPlaceholder, begin);
    out.append(schema.substr(begin, found - begin));
    if (found == std::string_view::npos) return out;
    out.append(version);
    begin = found + kPlaceholder.size();
  }
}

// Returns the kind of the document; members that are absent from the document are empty.
Result<GroupVersionKind> kind_of(const Value& tree) {
  if (tree.is_null()) return GroupVersionKind();
  const std::string cannot = std::string(kNoTypeMeta) + "json: cannot unmarshal ";
  if (!tree.is_object())
    return bad_request(cannot + std::string(json_kind(tree)) + " into Go value of type " + std::string(kTypeMetaStruct));
  for (const std::string_view field : {"apiVersion", "kind"}) {
    const Value* value = backplane::find(tree.get_object(), field);
    if (value == nullptr || value->is_string() || value->is_null()) continue;
    return bad_request(cannot + std::string(json_kind(*value)) + " into Go struct field ." + std::string(field) + " of type string");
  }
  const std::string_view api_version = get_string(tree.get_object(), "apiVersion");
  if (std::count(api_version.begin(), api_version.end(), '/') > 1)
    return bad_request("unexpected GroupVersion string: " + std::string(api_version));
  GroupVersion version = GroupVersion::parse(api_version);
  return GroupVersionKind{std::move(version.group), std::move(version.version), std::string(get_string(tree.get_object(), "kind"))};
}

// Returns the kind of a document in which missing parts are replaced by those of `into` (gvkWithDefaults).
GroupVersionKind with_defaults(GroupVersionKind kind, const GroupVersionKind& into) {
  if (kind.kind.empty()) kind.kind = into.kind;
  if (!kind.version.empty() || (!kind.group.empty() && kind.group != into.group)) return kind;
  kind.group = into.group;
  kind.version = into.version;
  return kind;
}

bool is_yaml_line(std::string_view problem) { return problem.starts_with("line "); }

// Joins the errors. Duplicate keys in YAML are one error with one line for each key, as the YAML decoder reports them.
std::string one_text(const std::vector<std::string>& problems) {
  std::string out;
  bool in_yaml = false;
  for (const std::string& each : problems) {
    const bool yaml = is_yaml_line(each);
    if (yaml && in_yaml) {
      out.append("\n  ");
    } else {
      out.append(out.empty() ? "" : ", ").append(yaml ? "yaml: unmarshal errors:\n  " : "");
    }
    out.append(each);
    in_yaml = yaml;
  }
  return out;
}

// Upstream converts YAML to JSON with sorted members, so errors are in the order of the sorted members.
void sort_members(Value& value) {
  if (value.is_array()) {
    for (Value& item : value.get_array()) sort_members(item);
  }
  if (!value.is_object()) return;
  std::map<std::string, Value> members;
  for (auto& member : value.get_object()) {
    sort_members(member.value());
    members.emplace(member.key(), std::move(member.value()));
  }
  value.get_object().clear();
  for (auto& [key, member] : members) value.get_object().emplace(key, std::move(member));
}

bool looks_like_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\v\f");
  return first != std::string_view::npos && text[first] == '{';
}

// Upstream chooses the decoder by the first character, so YAML in flow style that is not JSON is an error.
Result<Value> parse(std::string_view text, DecodeReport& report) {
  if (looks_like_json(text)) {
    auto tree = parse_json(text, {}, &report);
    if (!tree.ok()) return bad_request(std::string(kNoTypeMeta) + tree.status().message());
    return tree;
  }
  auto tree = parse_yaml(text, {}, &report);
  if (tree.ok()) sort_members(*tree);
  return tree;
}

}  // namespace

ConfigDecoder::ConfigDecoder(std::string kind, const std::vector<std::string>& versions, std::string_view schema, bool secret,
                             GroupVersionKind into)
    : kind_(std::move(kind)), secret_(secret), into_(std::move(into)) {
  for (const std::string& version : versions) {
    const std::string document = with_version(schema, version);
    const std::string_view view = document;
    auto set = SchemaSet::compile({&view, 1});
    if (!set.ok()) throw std::invalid_argument("the schema of " + kind_ + ": " + set.status().message());
    sets_.push_back(std::move(*set));
  }
}

const Schema* ConfigDecoder::find(const GroupVersionKind& kind) const noexcept {
  for (const auto& set : sets_) {
    if (const Schema* schema = set->find(kind); schema != nullptr) return schema;
  }
  return nullptr;
}

Status ConfigDecoder::unknown_kind(const GroupVersionKind& kind) const {
  const std::string version = kind.group_version().to_string();
  const bool known = std::any_of(kKnownConfigs.begin(), kKnownConfigs.end(),
                                 [&](const KnownConfig& each) { return each.version == version && each.kind == kind.kind; });
  if (known) return bad_request("expected " + kind_ + ", got *apiserver." + kind.kind);
  // kube-apiserver's message contains this location in its source.
  return bad_request("no kind " + backplane::quoted(kind.kind) + " is registered for version " + backplane::quoted(version) +
                     " in scheme \"pkg/runtime/scheme.go:111\"");
}

Status ConfigDecoder::missing(std::string_view field, std::string_view text) const {
  std::string out = "Object '" + std::string(field) + "' is missing in '";
  return bad_request(out.append(secret_ ? std::string_view("<omitted>") : text).append("'"));
}

Result<ConfigDocument> ConfigDecoder::decode_lenient(std::string_view text) const {
  DecodeReport report;
  auto tree = parse(text, report);
  if (!tree.ok()) return std::move(tree).status();
  auto kind = kind_of(*tree);
  if (!kind.ok()) return std::move(kind).status();
  *kind = with_defaults(std::move(*kind), into_);
  if (kind->kind.empty()) return missing("Kind", text);
  if (kind->version.empty()) return missing("apiVersion", text);
  const Schema* schema = find(*kind);
  if (schema == nullptr && *kind == into_) return ConfigDocument{std::move(*kind), Object(), {}};
  if (schema == nullptr) return unknown_kind(*kind);
  Status status = schema->normalize(*tree, &report);
  if (!status.ok()) return status;
  schema->apply_defaults(*tree);
  return ConfigDocument{std::move(*kind), std::move(tree->get_object()), one_text(report.problems)};
}

Result<ConfigDocument> ConfigDecoder::decode(std::string_view text) const {
  auto document = decode_lenient(text);
  if (document.ok() && !document->problems.empty()) return bad_request("strict decoding error: " + document->problems);
  return document;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
