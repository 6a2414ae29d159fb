// Admission attributes in upstream's formats.
#include "backplane/points/admission.hpp"

#include "backplane/types/names.hpp"

namespace backplane BACKPLANE_API {
namespace {

// True for a key with the form `domain/name` that apimachinery's validation.IsQualifiedName accepts.
bool is_annotation_key(std::string_view key) { return key.find('/') != std::string_view::npos && is_qualified_name(key).empty(); }

Object empty_options(std::string_view kind, const json::storage_ptr& storage) {
  Object options(storage);
  options["kind"] = kind;
  options["apiVersion"] = "meta.k8s.io/v1";
  return options;
}

void set_dry_run(Object& options, bool dry_run) {
  if (dry_run) ensure_array(options, "dryRun").emplace_back("All");
}

Value write_value(const WriteOptions& options, std::string_view kind, const json::storage_ptr& storage) {
  Object out = empty_options(kind, storage);
  set_dry_run(out, options.dry_run);
  if (!options.field_manager.empty()) out["fieldManager"] = options.field_manager;
  // Warn is the default; upstream shows it only if the request names it.
  if (options.field_validation != FieldValidation::kWarn) {
    out["fieldValidation"] = options.field_validation == FieldValidation::kStrict ? "Strict" : "Ignore";
  }
  return out;
}

Value delete_value(const DeleteOptions& options, const json::storage_ptr& storage) {
  Object out = empty_options("DeleteOptions", storage);
  if (options.grace_period_seconds) out["gracePeriodSeconds"] = *options.grace_period_seconds;
  const Preconditions& wanted = options.preconditions;
  if (wanted.uid || wanted.resource_version) {
    Object& preconditions = ensure_object(out, "preconditions");
    if (wanted.uid) preconditions["uid"] = *wanted.uid;
    if (wanted.resource_version) preconditions["resourceVersion"] = *wanted.resource_version;
  }
  if (options.orphan_dependents) out["orphanDependents"] = *options.orphan_dependents;
  if (options.propagation_policy) out["propagationPolicy"] = *options.propagation_policy;
  set_dry_run(out, options.dry_run);
  return out;
}

}  // namespace

std::string_view admission_operation_name(AdmissionOperation operation) noexcept {
  switch (operation) {
    case AdmissionOperation::kCreate:
      return "CREATE";
    case AdmissionOperation::kUpdate:
      return "UPDATE";
    case AdmissionOperation::kDelete:
      return "DELETE";
    case AdmissionOperation::kConnect:
      break;
  }
  return "CONNECT";
}

std::shared_ptr<void>& AdmissionReinvocation::state_of(std::string_view plugin) {
  const auto found = states_.find(plugin);
  return found != states_.end() ? found->second : states_[std::string(plugin)];
}

void AdmissionAttributes::warn(std::string_view text) const {
  if (context != nullptr) context->warn(text);
}

Status AdmissionAttributes::annotate(std::string_view key, std::string value) const {
  if (!is_annotation_key(key)) {
    return bad_request(
        "annotation key has invalid format, the right format is a DNS subdomain prefix and '/' and key name. (e.g. "
        "'podsecuritypolicy.admission.k8s.io/admit-policy')");
  }
  if (context == nullptr || context->annotate(key, std::move(value))) return {};
  return bad_request("admission annotations are not allowed to be overwritten, key:" + quoted(key));
}

Value admission_options(const AdmissionAttributes& attributes, json::storage_ptr storage) {
  if (const auto* write = std::get_if<WriteOptions>(&attributes.options)) {
    return write_value(*write, attributes.operation == AdmissionOperation::kCreate ? "CreateOptions" : "UpdateOptions", storage);
  }
  if (const auto* remove = std::get_if<DeleteOptions>(&attributes.options)) return delete_value(*remove, storage);
  return Value(nullptr, storage);
}

Status admission_forbidden(const AdmissionAttributes& attributes, std::string_view why) {
  std::string_view name = attributes.name;
  // The final name of an object with generateName is unknown, so the error contains the prefix.
  if (name.empty() && attributes.object != nullptr) name = meta_name(*attributes.object);
  if (name.empty() && attributes.object != nullptr) name = meta_text(*attributes.object, "generateName");
  if (name.empty()) name = "Unknown";
  return forbidden(attributes.resource.group, attributes.resource.resource, name, why);
}

AdmissionAttributes admission_attributes(RequestContext& context, AdmissionOperation operation, GroupVersionResource resource,
                                         GroupVersionKind kind) {
  AdmissionAttributes attributes;
  attributes.operation = operation;
  attributes.request_resource = resource;
  attributes.request_kind = kind;
  attributes.resource = std::move(resource);
  attributes.kind = std::move(kind);
  attributes.subresource = context.info.subresource;
  attributes.ns = context.info.ns;
  attributes.dry_run = context.dry_run;
  attributes.user = context.user;
  attributes.context = &context;
  return attributes;
}

EquivalentResources::~EquivalentResources() = default;
AdmissionPlugin::~AdmissionPlugin() = default;
std::optional<Status> AdmissionPlugin::admit_now(AdmissionAttributes&) const { return std::nullopt; }
std::optional<Status> AdmissionPlugin::validate_now(const AdmissionAttributes&) const { return std::nullopt; }
Task<Status> AdmissionPlugin::admit(AdmissionAttributes&) const { co_return Status(); }
Task<Status> AdmissionPlugin::validate(const AdmissionAttributes&) const { co_return Status(); }

bool AdmissionPlugin::begins(AdmissionOperation) const noexcept { return false; }

}  // namespace BACKPLANE_API
