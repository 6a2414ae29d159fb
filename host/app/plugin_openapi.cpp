#include "app/plugin_openapi.hpp"

#include "app/plugin_template.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/types/schema.hpp"

namespace backplane {
namespace {

constexpr std::string_view kReference = "#/components/schemas/";
constexpr std::size_t kDeepest = 64;  // references inside references

// Replaces references by the schemas that they name.
class References {
 public:
  explicit References(const Object& schemas) : schemas_(schemas) {}

  Value resolved(const Value& value, std::size_t depth) {
    if (value.is_array()) {
      Array out;
      for (const Value& each : value.get_array()) out.push_back(resolved(each, depth));
      return out;
    }
    return value.is_object() ? resolved(value.get_object(), depth) : value;
  }
  const Status& status() const { return status_; }

 private:
  Value resolved(const Object& schema, std::size_t depth) {
    Object out;
    for (const auto& [word, value] : schema) {
      if (word == "$ref" && value.is_string()) {
        add(named(text_of(value), depth), out);
      } else if (word == "allOf" && count_of(schema, "allOf") == 1) {
        add(resolved(value.get_array().front(), depth), out);  // {"allOf": [{"$ref": …}]}: a reference with further keywords
      } else {
        out[word] = resolved(value, depth);
      }
    }
    return out;
  }
  Value named(std::string_view reference, std::size_t depth) {
    const Value* found = reference.starts_with(kReference) ? find(schemas_, reference.substr(kReference.size())) : nullptr;
    if (!status_.ok()) return Object();
    if (found == nullptr) return fail("the document has no " + std::string(reference));
    if (depth > kDeepest) return fail(std::string(reference) + " contains itself, which structural schemas cannot express");
    return resolved(*found, depth + 1);
  }
  Value fail(std::string message) {
    if (status_.ok()) status_ = bad_request(std::move(message));
    return Object();
  }
  // Keywords next to the reference take precedence over those of the schema that it names.
  static void add(Value from, Object& to) {
    if (!from.is_object()) return;
    for (auto& [word, value] : from.get_object()) {
      if (!to.contains(word)) to[word] = std::move(value);
    }
  }

  const Object& schemas_;
  Status status_;
};

bool has_kind(const Object& schema, std::string_view kind, GroupVersionKind& gvk) {
  const Array* kinds = get_array(schema, "x-kubernetes-group-version-kind");
  if (kinds == nullptr || kinds->size() != 1 || !kinds->front().is_object()) return false;
  const Object& only = kinds->front().get_object();
  if (get_string(only, "kind") != kind) return false;
  gvk = {std::string(get_string(only, "group")), std::string(get_string(only, "version")), std::string(kind)};
  return true;
}

// The resource and its facts from the path of its objects, /apis/GROUP/VERSION[/namespaces/{namespace}]/RESOURCE/{name}.
void read_paths(const Object& paths, const GroupVersionKind& gvk, ImportedKind& out) {
  const std::string prefix = "/apis/" + gvk.group + "/" + gvk.version + "/", scope = "namespaces/{namespace}/", name = "/{name}";
  for (const auto& member : paths) {
    const std::string path(member.key());
    const Object* get = member.value().is_object() ? get_object(member.value().get_object(), "get") : nullptr;
    if (get == nullptr || !path.starts_with(prefix) || !path.ends_with(name)) continue;
    if (get_string_path(*get, "x-kubernetes-group-version-kind.kind") != gvk.kind) continue;
    std::string rest = path.substr(prefix.size(), path.size() - prefix.size() - name.size());
    const bool namespaced = rest.starts_with(scope);
    if (namespaced) rest = rest.substr(scope.size());
    if (rest.find('/') != std::string::npos) continue;
    out.resource = rest;
    if (!namespaced) out.facts["namespaced"] = false;
    if (paths.contains(path + "/status")) out.facts["status"] = true;
    if (paths.contains(path + "/scale")) out.facts["scale"] = Object();
    return;
  }
}

}  // namespace

Result<ImportedKind> kind_of_openapi(std::string_view text, std::string_view kind, std::string_view resource) {
  if (kind.empty()) return bad_request("--openapi needs --kind");
  auto document = parse_yaml(text, {}, nullptr);
  if (!document.ok()) return std::move(document.status());
  const Object root = document->is_object() ? document->get_object() : Object();
  const Object& schemas = object_or_empty(object_or_empty(root, "components"), "schemas");
  const Object* found = nullptr;
  GroupVersionKind gvk;
  for (const auto& schema : schemas) {
    if (!schema.value().is_object() || !has_kind(schema.value().get_object(), kind, gvk)) continue;
    if (found != nullptr) return bad_request("components.schemas has several types with the kind " + std::string(kind));
    found = &schema.value().get_object();
  }
  if (found == nullptr) return bad_request("components.schemas has no type with the x-kubernetes-group-version-kind " + std::string(kind));
  has_kind(*found, kind, gvk);
  References references(schemas);
  ImportedKind out{gvk.group, gvk.kind, resource.empty() ? plural_of(gvk.kind) : std::string(resource)};
  out.facts["generation"] = true;
  read_paths(object_or_empty(root, "paths"), gvk, out);
  out.facts["columns"] = Array{"name", "age"};
  Object schema = *found;
  // The host supplies the schema of metadata.
  ensure_object(ensure_object(schema, "properties"), "metadata") = Object{{"type", "object"}};
  out.versions.push_back({gvk.version, references.resolved(Value(schema), 0).get_object()});
  if (!references.status().ok()) return references.status();
  return out;
}

}  // namespace backplane
