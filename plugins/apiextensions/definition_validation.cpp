#include "definition_validation.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "backplane/types/names.hpp"
#include "schema_rules.hpp"
#include "unpruned_definition.hpp"
#include "version_validation.hpp"
#include "webhook_config.hpp"

namespace backplane::apiextensions {
namespace {

constexpr std::string_view kApproval = "api-approved.kubernetes.io";
constexpr std::string_view kImmutable = "field is immutable";

std::string joined(const Problems& problems) {
  std::string text;
  for (const std::string& problem : problems) text += (text.empty() ? "" : ",") + problem;
  return text;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

void check_label(std::string_view text, const std::string& path, FieldErrors& errors) {
  const Problems problems = is_dns1035_label(text);
  if (!problems.empty()) errors.invalid(path, text, joined(problems));
}

void check_kind(std::string_view text, const std::string& path, FieldErrors& errors) {
  const Problems problems = is_dns1035_label(lower(text));
  if (!problems.empty()) errors.invalid(path, text, "may have mixed case, but should otherwise match: " + joined(problems));
}

void check_group(const Object& spec, FieldErrors& errors) {
  const std::string_view group = get_string(spec, "group");
  const Problems problems = is_dns1123_subdomain(group);
  if (group.empty())
    errors.required("spec.group");
  else if (!problems.empty())
    errors.invalid("spec.group", group, joined(problems));
  else if (group.find('.') == std::string_view::npos)
    errors.invalid("spec.group", group, "should be a domain with at least one dot");
}

void check_required_names(const Object& names, FieldErrors& errors) {
  for (std::string_view key : {"plural", "singular", "kind", "listKind"}) {
    if (get_string(names, key).empty()) errors.required("spec.names." + std::string(key));
  }
}

void check_conversion(const Object& spec, const Object* old, FieldErrors& errors) {
  const Object* conversion = get_object(spec, "conversion");
  if (conversion == nullptr) return;
  const std::string_view strategy = get_string(*conversion, "strategy");
  if (strategy.empty())
    errors.required("spec.conversion.strategy");
  else if (strategy != "None" && strategy != "Webhook")
    errors.not_supported("spec.conversion.strategy", strategy, {"None", "Webhook"});
  if (strategy != "None" && get_bool(spec, "preserveUnknownFields").value_or(false))
    errors.invalid("spec.conversion.strategy", strategy, "must be None if spec.preserveUnknownFields is true");
  if (strategy == "Webhook") {
    const Object* before = old != nullptr ? get_object(spec_of(*old), "conversion") : nullptr;
    check_conversion_webhook(*conversion, before, may_have_any_authorities(old), errors);
    return;
  }
  const Object* webhook = get_object(*conversion, "webhook");
  if (webhook == nullptr) return;
  constexpr std::string_view kDetail = "should not be set when strategy is not set to Webhook";
  if (get_object(*webhook, "clientConfig") != nullptr) errors.forbidden("spec.conversion.webhookClientConfig", kDetail);
  if (!texts(*webhook, "conversionReviewVersions").empty()) errors.forbidden("spec.conversion.conversionReviewVersions", kDetail);
}

void check_stored_versions(const Object& crd, FieldErrors& errors) {
  const std::string path = "status.storedVersions";
  const Value* printed = find(object_or_empty(crd, "status"), "storedVersions");
  const std::vector<std::string> stored = texts(object_or_empty(crd, "status"), "storedVersions");
  const std::string text = printed ? to_json(*printed) : std::string("null");
  if (stored.empty()) {
    errors.invalid_raw(path, "null", "must have at least one stored version");
    return;
  }
  std::set<std::string> left(stored.begin(), stored.end());
  for (const Object* version : versions_of(crd)) {
    const std::string name(get_string(*version, "name"));
    if (left.erase(name) == 0 && get_bool(*version, "storage").value_or(false)) {
      errors.invalid_raw(path, text, "must have the storage version " + name);
    }
  }
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (left.count(stored[i]) == 0) continue;
    errors.invalid(path + "[" + std::to_string(i) + "]", stored[i],
                   "missing from spec.versions; " + stored[i] +
                       " was previously a storage version, and must remain in spec.versions until a " +
                       "storage migration ensures no data remains persisted in " + stored[i] + " and removes " + stored[i] +
                       " from status.storedVersions");
  }
}

enum class Approval { kMissing, kBypassed, kApproved, kInvalid };

Approval approval_of(std::string_view annotation) {
  if (annotation.empty()) return Approval::kMissing;
  if (annotation.substr(0, 10) == "unapproved") return Approval::kBypassed;
  const std::size_t scheme = annotation.find("://");
  const bool url = scheme != std::string_view::npos && scheme > 0 && annotation.size() > scheme + 3 && annotation[scheme + 3] != '/' &&
                   annotation.find(' ') == std::string_view::npos;
  const std::string_view host = url ? annotation.substr(scheme + 3, annotation.find('/', scheme + 3) - scheme - 3) : std::string_view();
  if (host.starts_with('[') && host.find(']') == std::string_view::npos) return Approval::kInvalid;
  return url ? Approval::kApproved : Approval::kInvalid;
}

std::string_view approval_annotation(const Object& crd) {
  return get_string(object_or_empty(object_or_empty(crd, "metadata"), "annotations"), kApproval);
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Definitions in the groups of the community (k8s.io, kubernetes.io and below) need an annotation: the approval, or the reason why there is
// none.
void check_approval(const Object& crd, const Object* old, FieldErrors& errors) {
  const std::string_view group = get_string(spec_of(crd), "group");
  const bool protected_group =
      group == "k8s.io" || ends_with(group, ".k8s.io") || group == "kubernetes.io" || ends_with(group, ".kubernetes.io");
  if (!protected_group) return;
  const std::string_view annotation = approval_annotation(crd);
  const Approval approval = approval_of(annotation);
  if (old != nullptr && approval_of(approval_annotation(*old)) == approval) return;
  const std::string path = "metadata.annotations[" + std::string(kApproval) + "]";
  const std::string start = "protected groups must have approval annotation " + quoted(kApproval);
  const std::string see = ", see https://github.com/kubernetes/enhancements/pull/1111";
  if (approval == Approval::kMissing) errors.required(path, start + see);
  if (approval == Approval::kInvalid)
    errors.invalid(path, annotation, start + " with either a URL or a reason starting with \"unapproved\"" + see);
}

void check_change(const Object& crd, const Object& old, FieldErrors& errors) {
  const auto same = [&](const Object& now, const Object& before, std::string_view key, const std::string& path) {
    if (get_string(now, key) != get_string(before, key)) errors.invalid(path, get_string(now, key), kImmutable);
  };
  if (condition_is_true(old, "Established")) {
    same(spec_of(crd), spec_of(old), "scope", "spec.scope");
    same(names_of(crd), names_of(old), "kind", "spec.names.kind");
  }
  same(spec_of(crd), spec_of(old), "group", "spec.group");
  same(names_of(crd), names_of(old), "plural", "spec.names.plural");
}

bool has_defaults(const Object& crd) {
  const std::vector<const Object*> versions = versions_of(crd);
  return std::any_of(versions.begin(), versions.end(), [](const Object* version) {
    const Object* schema = schema_of(*version);
    return schema != nullptr && any_schema(*schema, [](const Object& each) {
             const Value* value = find(each, "default");
             return value != nullptr && !value->is_null();
           });
  });
}

void check_spec(const Object& crd, const Object* old, FieldErrors& errors) {
  const Object& spec = spec_of(crd);
  if (preserves_unknown_fields(crd) && has_defaults(crd))
    errors.invalid_raw("spec.preserveUnknownFields", "true", "must be false in order to use defaults in the schema");
  check_group(spec, errors);
  const std::string_view scope = get_string(spec, "scope");
  if (scope.empty())
    errors.required("spec.scope");
  else if (scope != "Cluster" && scope != "Namespaced")
    errors.not_supported("spec.scope", scope, {"Cluster", "Namespaced"});
  validate_versions(crd, old, errors);
  check_required_names(names_of(crd), errors);
  validate_names(names_of(crd), "spec.names", errors);
  check_conversion(spec, old, errors);
}

bool same_spec(const Object& a, const Object& b) {
  const Value* left = find(a, "spec");
  const Value* right = find(b, "spec");
  return left != nullptr && right != nullptr && *left == *right;
}

}  // namespace

void validate_names(const Object& names, const std::string& path, FieldErrors& errors) {
  const std::string_view kind = get_string(names, "kind");
  const std::string_view list_kind = get_string(names, "listKind");
  for (std::string_view key : {"plural", "singular"}) {
    if (!get_string(names, key).empty()) check_label(get_string(names, key), path + "." + std::string(key), errors);
  }
  if (!kind.empty()) check_kind(kind, path + ".kind", errors);
  if (!list_kind.empty()) check_kind(list_kind, path + ".listKind", errors);
  const auto check_each = [&](std::string_view key) {
    std::size_t i = 0;
    for (const std::string& text : texts(names, key))
      check_label(text, path + "." + std::string(key) + "[" + std::to_string(i++) + "]", errors);
  };
  check_each("shortNames");
  if (!kind.empty() && kind == list_kind) errors.invalid(path + ".listKind", list_kind, "kind and listKind may not be the same");
  check_each("categories");
}

void validate_definition(const Object& crd, const Object* old, FieldErrors& errors) {
  if (old == nullptr || !same_spec(crd, *old)) check_spec(crd, old, errors);
  if (old != nullptr) check_change(crd, *old, errors);
  validate_names(accepted_names_of(crd), "status.acceptedNames", errors);
  check_stored_versions(crd, errors);
  check_approval(crd, old, errors);
  if (preserves_unknown_fields(crd)) {
    const bool before = old != nullptr && preserves_unknown_fields(*old);
    if (!before) {
      errors.invalid_raw("spec.preserveUnknownFields", "true",
                         "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead");
    }
  }
}

}  // namespace backplane::apiextensions
