// Rules for projected volumes: each item has one source, and all files are in one directory.
#include <algorithm>
#include <array>
#include <cstdint>

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/schema.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "backplane/workload/signer_name.hpp"
#include "pod_parts.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

const std::set<std::string> kVolumeFields = {"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace",
                                             "metadata.uid"};
constexpr std::array<std::string_view, 6> kKinds = {
    "secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"};

// Returns the errors that the schema's format volumePath reports.
std::vector<std::string> volume_path_problems(std::string_view text) {
  std::vector<std::string> out = descending_path_problems(text);
  if (text.starts_with("..") && !text.starts_with("../")) out.emplace_back("must not start with '..'");
  return out;
}

// Collects the paths of the files of a volume. add() reports an error if another source has the same path; the error quotes `shown`.
class Files {
 public:
  Files(const Path& volume, FieldErrors& errors) : volume_(volume), errors_(errors) {}
  void add(std::string_view path, std::string_view shown) {
    if (!paths_.emplace(path).second) errors_.invalid(volume_, shown, "conflicting duplicate paths");
  }
  void add_items(const Object& source, std::string_view shown) {
    each(source, "items", [&](const Object& item, std::size_t) {
      const std::string_view path = get_string(item, "path");
      if (!path.empty()) add(path, shown.empty() ? path : shown);
    });
  }

 private:
  const Path& volume_;
  FieldErrors& errors_;
  std::set<std::string, std::less<>> paths_;
};

void validate_token(const Object& token, const Path& volume, const PodValidationOptions& options, FieldErrors& errors) {
  const std::string_view place = get_string(token, "path");
  const Path path = volume.at("path");
  if (place.empty()) return errors.required(path);
  if (!options.token_paths) add_problems(volume_path_problems(place), path, place, errors);
}

void validate_bundle_source(const Object& bundle, const Path& path, FieldErrors& errors) {
  const bool named = has(bundle, "name"), signed_by = has(bundle, "signerName");
  const Schema* type = core_schemas()->find("io.k8s.api.core.v1.ClusterTrustBundleProjection");
  if (named && signed_by) {
    return errors.invalid_raw(path, to_json(type->go_struct(bundle)), "only one of name and signerName may be used");
  }
  if (!named && !signed_by) return errors.required(path, "either name or signerName must be specified");
  const Path selector_path = path.at("labelSelector"), member = path.at(named ? "name" : "signerName");
  if (named) {
    const std::string_view name = get_string(bundle, "name");
    if (name.empty()) errors.required(member, "must be a valid object name");
    for (const std::string& problem : bundle_name_problems(name)) {
      errors.invalid(member, name, "not a valid clustertrustbundlename: " + problem);
    }
    if (const Object* selector = get_object(bundle, "labelSelector")) {
      errors.invalid_raw(selector_path, to_json(*selector), "labelSelector must be unset if name is specified");
    }
    return;
  }
  if (get_string(bundle, "signerName").empty()) errors.required(member, "must be a valid signer name");
  check_signer_name(member, get_string(bundle, "signerName"), errors);
  check_at(validate_label_selector, object_or_empty(bundle, "labelSelector"), selector_path, errors);
}

void validate_bundle(const Object& bundle, const Path& path, Files& files, FieldErrors& errors) {
  validate_bundle_source(bundle, path, errors);
  const std::string_view place = get_string(bundle, "path");
  const Path place_path = path.at("path");
  if (place.empty()) errors.required(place_path);
  add_problems(volume_path_problems(place), place_path, place, errors);
  files.add(place, place);
}

void validate_lifetime(const Object& certificate, const Path& path, FieldErrors& errors) {
  constexpr std::int64_t kLeast = 3600, kMost = 91 * 24 * 3600, kMostOfKubernetes = 24 * 3600;
  const auto seconds = get_int(certificate, "maxExpirationSeconds");
  if (!seconds) return;
  const std::int64_t most = is_kubernetes_signer(get_string(certificate, "signerName")) ? kMostOfKubernetes : kMost;
  const auto number = static_cast<long long>(*seconds);
  if (*seconds < kLeast) errors.invalid(path, number, "if provided, maxExpirationSeconds must be >= 3600");
  if (*seconds > most) errors.invalid(path, number, "if provided, maxExpirationSeconds must be <= " + std::to_string(most));
}

void validate_certificate(const Object& certificate, const Path& path, Files& files, FieldErrors& errors) {
  check_signer_name(path.at("signerName"), get_string(certificate, "signerName"), errors);
  check_user_annotations(path.at("userAnnotations"), object_or_empty(certificate, "userAnnotations"), errors);
  check_one_of(certificate, "keyType", path, {"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"}, errors);
  validate_lifetime(certificate, path.at("maxExpirationSeconds"), errors);
  bool placed = false;
  for (std::string_view member : {"credentialBundlePath", "keyPath", "certificateChainPath"}) {
    const std::string_view place = get_string(certificate, member);
    if (place.empty()) continue;
    placed = true;
    add_problems(volume_path_problems(place), path.at(member), place, errors);
    files.add(place, place);
  }
  if (!placed) errors.required(path, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath");
}

}  // namespace

std::vector<std::string> descending_path_problems(std::string_view text) {
  std::vector<std::string> out;
  if (text.starts_with('/')) out.emplace_back("must be a relative path");
  if (("/" + std::string(text) + "/").find("/../") != std::string::npos) out.emplace_back("must not contain '..'");
  return out;
}

void validate_downward_item(const Object& item, const Path& path, FieldErrors& errors) {
  const bool field = has(item, "fieldRef"), resource = has(item, "resourceFieldRef");
  if (!field && !resource) return errors.required(path, "one of fieldRef and resourceFieldRef is required");
  if (field) validate_field_ref(item, path, kVolumeFields, errors);
  if (field && resource) {
    errors.invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
  } else if (const Object* ref = get_object(item, "resourceFieldRef")) {
    validate_resource_field_ref(*ref, path.at("resourceFieldRef"), true, errors);
  }
}

void validate_projected(const Object& source, const Path& path, const PodValidationOptions& options, FieldErrors& errors) {
  Files files(path, errors);
  each(source, "sources", [&](const Object& part, std::size_t i) {
    const Path item = path.at("sources", i), downward_path = item.at("downwardAPI");
    for (std::string_view kind : {"secret", "configMap"}) {
      const Object& map = object_or_empty(part, kind);
      files.add_items(map, get_string(map, "name"));
    }
    const Object& downward = object_or_empty(part, "downwardAPI");
    each(downward, "items", [&](const Object& entry, std::size_t) { validate_downward_item(entry, downward_path, errors); });
    files.add_items(downward, {});
    if (const Object* token = get_object(part, "serviceAccountToken")) validate_token(*token, path, options, errors);
    if (const Object* bundle = get_object(part, "clusterTrustBundle"))
      validate_bundle(*bundle, item.at("clusterTrustBundle"), files, errors);
    if (const Object* made = get_object(part, "podCertificate")) validate_certificate(*made, item.at("podCertificate"), files, errors);
    const auto count = std::count_if(kKinds.begin(), kKinds.end(), [&](std::string_view kind) { return has(part, kind); });
    if (count > 1) errors.forbidden(item, "may not specify more than 1 volume type per source");
  });
}

bool has_outer_token_path(const Object& pod_spec) {
  bool found = false;
  each(pod_spec, "volumes", [&](const Object& volume, std::size_t) {
    each(object_or_empty(volume, "projected"), "sources", [&](const Object& source, std::size_t) {
      const Object* token = get_object(source, "serviceAccountToken");
      found |= token != nullptr && !volume_path_problems(get_string(*token, "path")).empty();
    });
  });
  return found;
}

}  // namespace backplane::workload
