#include "manifests/manifest_objects.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "manifests/manifest_decoding.hpp"
#include "manifests/manifest_files.hpp"

namespace backplane::admission::manifests {
namespace {

// ---- restrictions of manifests

Status check_policy(std::string_view kind, const Object& object) {
  if (!has(object_or_empty(object, "spec"), "paramKind")) return {};
  return bad_request(std::string(kind) + " " + quoted(meta_name(object)) + ": spec.paramKind is not supported for static manifests");
}

Status check_binding(const Object& object) {
  const Object& spec = object_or_empty(object, "spec");
  const std::string_view policy = get_string(spec, "policyName");
  const std::string start = "binding " + quoted(meta_name(object));
  if (policy.empty()) return bad_request(start + " must reference a policy (spec.policyName)");
  if (!policy.ends_with(kStaticSuffix)) {
    return bad_request(start + ": spec.policyName " + quoted(policy) + " must end with " + quoted(kStaticSuffix));
  }
  return has(spec, "paramRef") ? bad_request(start + ": spec.paramRef is not supported for static manifests") : Status();
}

Status check_webhook(const Object& webhook, const Object& object, const std::string& file) {
  const Object& client = object_or_empty(webhook, "clientConfig");
  const std::string start =
      "webhook " + quoted(get_string(webhook, "name")) + " in " + quoted(meta_name(object)) + " (file " + quoted(file) + "): ";
  if (has(client, "service")) {
    return bad_request(start + "clientConfig.service is not supported for static manifests; use clientConfig.url instead");
  }
  return get_string(client, "url").empty() ? bad_request(start + "clientConfig.url is required for static manifests") : Status();
}

Status check_webhooks(const Object& object, const std::string& file) {
  Status out;
  each(object, "webhooks", [&](const Object& webhook, std::size_t) {
    if (out.ok()) out = check_webhook(webhook, object, file);
  });
  return out;
}

// ---- loading

class Loader {
 public:
  explicit Loader(const ManifestKinds& kinds) : kinds_(kinds) {}

  Status add(const ManifestDocument& document) {
    auto decoded = decode_manifest(document.text);
    Status added = decoded.ok() ? accept(std::move(*decoded), document.file) : std::move(decoded.status());
    return added.ok() ? added : bad_request("error loading " + document.file + ": " + added.message());
  }

  Result<ManifestObjects> finish(std::string hash) {
    for (const Object& binding : out_.bindings) {
      const std::string policy(get_string(object_or_empty(binding, "spec"), "policyName"));
      if (main_names_.count(policy) > 0) continue;
      return bad_request("binding " + quoted(meta_name(binding)) + " references policy " + quoted(policy) +
                         " which does not exist in the manifest directory");
    }
    for (auto* list : {&out_.main, &out_.bindings}) {
      std::sort(list->begin(), list->end(), [](const Object& a, const Object& b) { return meta_name(a) < meta_name(b); });
    }
    out_.hash = std::move(hash);
    return std::move(out_);
  }

 private:
  using Names = std::map<std::string, std::string, std::less<>>;  // files, by name

  Status accept(DecodedManifest manifest, const std::string& file) {
    const std::string& kind = manifest.kind.kind;
    if (manifest.kind.group.empty() && kind == "List") return accept_list(manifest.tree.get_object(), file);
    const bool is_v1 = manifest.kind.version == "v1";
    for (const std::string_view wanted : {kinds_.main, kinds_.binding}) {
      if (wanted.empty() || !is_v1) continue;
      if (kind == wanted) return accept_one(wanted, std::move(manifest.tree), file);
      if (kind == std::string(wanted) + "List") return accept_items(wanted, manifest.tree.get_object(), file);
    }
    return bad_request("unsupported resource type " + go_type(manifest.kind));
  }

  // Accepts the items of a v1 List, which may have different kinds.
  Status accept_list(Object& list, const std::string& file) {
    Value* items = find(list, "items");
    if (items == nullptr || !items->is_array()) return {};
    for (Value& item : items->get_array()) {
      auto decoded = decode_item(std::move(item));
      if (!decoded.ok()) return bad_request("failed to decode list item: " + decoded.status().message());
      if (Status accepted = accept(std::move(*decoded), file); !accepted.ok()) return accepted;
    }
    return {};
  }

  Status accept_items(std::string_view kind, Object& list, const std::string& file) {
    Value* items = find(list, "items");
    if (items == nullptr || !items->is_array()) return {};
    for (Value& item : items->get_array()) {
      if (Status accepted = accept_one(kind, std::move(item), file); !accepted.ok()) return accepted;
    }
    return {};
  }

  Status accept_one(std::string_view kind, Value tree, const std::string& file) {
    if (Status complete = complete_object(kind, tree); !complete.ok()) return complete;
    Object& object = tree.get_object();
    const bool binding = kind == kinds_.binding;
    if (Status named = check_name(object, file, binding ? binding_names_ : main_names_); !named.ok()) return named;
    Status allowed = binding ? check_binding(object) : kinds_.binding.empty() ? check_webhooks(object, file) : check_policy(kind, object);
    if (allowed.ok()) (binding ? out_.bindings : out_.main).push_back(std::move(object));
    return allowed;
  }

  static Status check_name(const Object& object, const std::string& file, Names& seen) {
    const std::string name(meta_name(object));
    if (name.empty()) return bad_request("resource in file " + quoted(file) + " must have a name");
    if (!name.ends_with(kStaticSuffix)) {
      return bad_request(quoted(name) + " in file " + quoted(file) + " must have a name ending with " + quoted(kStaticSuffix));
    }
    const auto [found, added] = seen.emplace(name, file);
    if (added) return {};
    return bad_request("duplicate name " + quoted(name) + " found in file " + quoted(file) + " (previously seen in " +
                       quoted(found->second) + ")");
  }

  const ManifestKinds kinds_;
  Names main_names_, binding_names_;
  ManifestObjects out_;
};

}  // namespace

Result<ManifestObjects> load_manifests(const std::string& directory, const ManifestKinds& kinds) {
  auto files = read_manifest_files(directory);
  if (!files.ok()) return std::move(files.status());
  Loader loader(kinds);
  for (const ManifestDocument& document : files->documents) {
    if (Status added = loader.add(document); !added.ok()) return added;
  }
  return loader.finish(std::move(files->hash));
}

}  // namespace backplane::admission::manifests
