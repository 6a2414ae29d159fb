// autoscaling/v1 Scale as a view of three paths of the parent (registry/apps/*/storage ScaleREST).
#include <limits>

#include "backplane/core/selectors.hpp"
#include "backplane/types/names.hpp"
#include "registry/fields/guarded_admission.hpp"
#include "registry/fields/scale_managers.hpp"
#include "registry/fields/stored_versions.hpp"
#include "registry/metadata.hpp"
#include "registry/object_store.hpp"

namespace backplane {
namespace registry {
namespace {

const GroupVersionKind& scale_kind() {
  static const GroupVersionKind kind{"autoscaling", "v1", "Scale"};
  return kind;
}

// The path without the leading dot that paths of custom resource definitions have.
std::string_view plain(std::string_view path) { return path.substr(0, 1) == "." ? path.substr(1) : path; }

void append_requirement(std::string& text, const std::string& requirement) {
  if (!text.empty()) text += ',';
  text += requirement;
}

std::string expression_text(const Object& expression) {
  const std::string key(get_string(expression, "key"));
  const std::string_view op = get_string(expression, "operator");
  if (op == "Exists") return key;
  if (op == "DoesNotExist") return "!" + key;
  std::string values;
  if (const Array* list = get_array(expression, "values")) {
    for (const Value& value : *list) {
      if (value.is_string()) append_requirement(values, std::string(value.get_string()));
    }
  }
  return key + (op == "NotIn" ? " notin (" : " in (") + values + ")";
}

void append_labels(std::string& text, const Object& labels) {
  for (const auto& [key, value] : labels) {
    if (value.is_string()) append_requirement(text, std::string(key) + "=" + std::string(value.get_string()));
  }
}

// The value of status.selector: if `selector` is a string, the string; if it is a LabelSelector or a map of labels, its text in selector
// syntax.
std::string selector_text(const Value* selector) {
  if (selector == nullptr) return {};
  if (selector->is_string()) return std::string(selector->get_string());
  if (!selector->is_object()) return {};
  const Object& object = selector->get_object();
  const Object* match_labels = get_object(object, "matchLabels");
  const Array* expressions = get_array(object, "matchExpressions");
  std::string text;
  if (match_labels == nullptr && expressions == nullptr) append_labels(text, object);
  if (match_labels != nullptr) append_labels(text, *match_labels);
  if (expressions != nullptr) {
    for (const Value& expression : *expressions) {
      if (expression.is_object()) append_requirement(text, expression_text(expression.get_object()));
    }
  }
  const auto parsed = LabelSelector::parse(text);
  return parsed.ok() ? parsed->to_string() : text;
}

// Sets the member at a dotted path, and creates the objects that contain it.
void set_path(Object& object, std::string_view path, std::int64_t value) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos)
    object.insert_or_assign(path, value);
  else
    set_path(ensure_object(object, path.substr(0, dot)), path.substr(dot + 1), value);
}

class ScaleView {
 public:
  explicit ScaleView(Host::ScalePaths paths) : paths_(std::move(paths)), schema_(meta_schemas()->find(scale_kind())) {}

  const Schema* schema() const noexcept { return schema_; }
  bool has_replicas(const Object& parent) const { return find_path(parent, plain(paths_.spec_replicas)) != nullptr; }
  Status missing_replicas() const { return internal_error("the spec replicas field " + quoted(paths_.spec_replicas) + " does not exist"); }
  // The path of the parent's replicas, for managedFields.
  FieldPath replicas_path() const {
    FieldPath path;
    std::string_view rest = plain(paths_.spec_replicas);
    for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
      path.push_back(PathElement::field(rest.substr(0, dot)));
      rest.remove_prefix(dot + 1);
    }
    path.push_back(PathElement::field(rest));
    return path;
  }
  void apply(Object& parent, std::int64_t replicas) const { set_path(parent, plain(paths_.spec_replicas), replicas); }

  Result<Object> from(const Object& parent, const json::storage_ptr& storage) const {
    Object scale(storage);
    scale["kind"] = scale_kind().kind;
    scale["apiVersion"] = "autoscaling/v1";
    Object metadata(storage);
    for (std::string_view key : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
      const std::string_view text = meta_text(parent, key);
      if (!text.empty()) metadata[key] = text;
    }
    scale["metadata"] = std::move(metadata);
    ensure_object(scale, "spec")["replicas"] = get_int_path(parent, plain(paths_.spec_replicas)).value_or(0);
    Object& status = ensure_object(scale, "status");
    status["replicas"] = get_int_path(parent, plain(paths_.status_replicas)).value_or(0);
    const std::string selector = paths_.selector.empty() ? std::string() : selector_text(find_path(parent, plain(paths_.selector)));
    if (!selector.empty()) status["selector"] = selector;
    Status shaped = canonical_form(schema_, scale);
    if (!shaped.ok()) return shaped;
    return scale;
  }

 private:
  Host::ScalePaths paths_;
  const Schema* schema_;
};

Status validate_scale(const Schema& schema, const Object& scale, bool namespaced, std::string_view parent_name) {
  FieldErrors errors;
  validate_object_meta(scale, namespaced, NameRule::kDnsSubdomain, errors);
  schema.check(scale, nullptr, ObjectPart::kWithoutStatus, "", errors);
  return errors.empty() ? Status() : errors.to_status(scale_kind().group, scale_kind().kind, parent_name);
}

// Presents an update of the Scale to the parent's store as an update of the parent.
class ScaleUpdate final : public UpdatedObjectInfo {
 public:
  ScaleUpdate(const ScaleView& view, ServedStore& parent, const FieldManager& fields, UpdatedObjectInfo& inner, const WriteOptions& options)
      : view_(view), parent_(parent), fields_(fields), inner_(inner), options_(options) {}

  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override {
    if (existing == nullptr) co_return not_found_error(parent_.served_names(), context.info.name);
    auto before = view_.from(*existing, context.arena());
    if (!before.ok()) co_return std::move(before.status());
    const ScaleManagers managers(managed_fields_of(*existing), parent_.fields().kind().group_version().to_string(), view_.replicas_path(),
                                 *versions_);
    auto shown = managers.of_scale(context.arena());
    if (!shown.ok()) co_return std::move(shown.status());
    put_managed_fields(*before, std::move(*shown), false);
    auto wanted = co_await fields_.wanted(inner_, nullptr, context, options_, &*before);
    if (!wanted.ok()) co_return std::move(wanted.status());
    Object scale = std::move(*wanted);
    Status scoped = ensure_namespace(scale, meta_namespace(*existing));
    if (!scoped.ok()) co_return scoped;
    auto admitting = admit(context, scale, *before);
    Status admitted = co_await std::move(admitting);
    if (!admitted.ok()) co_return admitted;
    Status valid = validate_scale(*view_.schema(), scale, parent_.namespaced(), meta_name(*existing));
    if (!valid.ok()) co_return valid;

    Object object(*existing, context.arena());
    view_.apply(object, get_int_path(scale, "spec.replicas").value_or(0));
    const std::string_view version = meta_text(scale, "resourceVersion");
    if (!version.empty()) ObjectMeta(object).set("resourceVersion", version);
    auto recorded = managers.of_parent(managed_fields_of(scale), context.arena());
    if (!recorded.ok()) co_return std::move(recorded.status());
    put_managed_fields(object, std::move(*recorded), parent_.schema() != nullptr && parent_.schema()->structural());
    auto validating = validate(context, object, *existing);
    Status validated = co_await std::move(validating);
    if (!validated.ok()) co_return validated;
    co_return object;
  }

  Preconditions preconditions() const override { return inner_.preconditions(); }

 private:
  // Null if admission does not apply to the request.
  const Backing* admitting_backing(const RequestContext& context) const {
    return context.info.is_resource_request ? parent_.stored().backing() : nullptr;
  }
  AdmissionAttributes attributes_of(RequestContext& context, Object& scale, const Object& before) const {
    WriteMode mode;
    mode.served_names = &parent_.served_names();
    AdmissionAttributes attributes = parent_.stored().attributes(mode, context, AdmissionOperation::kUpdate, meta_name(before));
    attributes.kind = scale_kind();
    attributes.request_kind = scale_kind();
    attributes.object = &scale;
    attributes.old_object = &before;
    attributes.options = options_;
    attributes.dry_run = options_.dry_run;
    return attributes;
  }
  Task<Status> admit(RequestContext& context, Object& scale, const Object& before) const {
    const Backing* backing = admitting_backing(context);
    if (backing == nullptr) co_return Status();
    AdmissionAttributes attributes = attributes_of(context, scale, before);
    auto admitting = guarded_admit(*backing->admission, attributes, context, false);
    co_return co_await std::move(admitting);
  }
  // As upstream, validating admission gets the Scales of the changed parent and of the stored parent, not the Scale of the request.
  Task<Status> validate(RequestContext& context, const Object& changed, const Object& existing) const {
    const Backing* backing = admitting_backing(context);
    if (backing == nullptr) co_return Status();
    auto scale = view_.from(changed, context.arena());
    auto before = view_.from(existing, context.arena());
    if (!scale.ok()) co_return std::move(scale.status());
    if (!before.ok()) co_return std::move(before.status());
    AdmissionAttributes attributes = attributes_of(context, *scale, *before);
    auto validating = guarded_validate(*backing->admission, attributes);
    co_return co_await std::move(validating);
  }

  const ScaleView& view_;
  ServedStore& parent_;
  const std::shared_ptr<const FieldVersions> versions_ = parent_.versions();
  const FieldManager& fields_;
  UpdatedObjectInfo& inner_;
  const WriteOptions options_;
};

// The table of `kubectl get --subresource=scale`.
const TableConvertor& scale_table() {
  static const ColumnTable table({
      {.name = "Name", .format = "name", .description = "Name of the object that is scaled.", .path = ".metadata.name"},
      {.name = "Desired", .type = "integer", .description = "Desired number of pods.", .path = ".spec.replicas", .absent = 0},
      {.name = "Available", .type = "integer", .description = "Current number of pods.", .path = ".status.replicas", .absent = 0},
      {.name = "Age",
       .description = "Time since the server stored the object for the first time.",
       .cells = [](const Object& scale, std::int64_t now,
                   Array& cells) { cells.emplace_back(human_age(meta_text(scale, "creationTimestamp"), now)); }},
  });
  return table;
}

class ScaleStore final : public SubresourceStorage {
 public:
  bool admits_writes() const noexcept override { return true; }
  ScaleStore(std::shared_ptr<ServedStore> parent, Host::ScalePaths paths)
      : parent_(std::move(parent)),
        view_(std::move(paths)),
        fields_(scale_kind(), view_.schema(), std::make_shared<OneVersion>(scale_kind(), view_.schema()), WrittenFields()) {}

  GroupVersionKind kind() const override { return scale_kind(); }
  const Schema* schema() const override { return view_.schema(); }
  bool namespaced() const override { return parent_->namespaced(); }
  const TableConvertor* subresource_table() const noexcept override { return &scale_table(); }

  Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) override {
    auto parent = co_await parent_->get(context, std::move(name), std::move(options));
    if (!parent.ok()) co_return std::move(parent.status());
    co_return scale_of(context, **parent, true);
  }

  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool) override {
    ScaleUpdate update(view_, *parent_, fields_, info, options);
    WriteMode mode;
    mode.strategy = parent_->stored().config().strategy.get();
    mode.run_admission = false;  // ScaleUpdate runs admission on the Scale
    auto updated =
        co_await parent_->update_through(mode, parent_->view_strategy(), context, std::move(name), update, std::move(options), false);
    if (!updated.ok()) co_return std::move(updated.status());
    auto scale = scale_of(context, *updated->object, false);
    if (!scale.ok()) co_return std::move(scale.status());
    updated->object = std::move(*scale);
    co_return updated;
  }

 private:
  Result<ObjectRef> scale_of(RequestContext& context, const ObjectEntry& entry, bool needs_replicas) const {
    const Object parent = decode(entry, context.arena());
    if (needs_replicas && !view_.has_replicas(parent)) return view_.missing_replicas();
    auto scale = view_.from(parent, context.arena());
    if (!scale.ok()) return std::move(scale.status());
    return make_object(*scale);
  }

  std::shared_ptr<ServedStore> parent_;
  ScaleView view_;
  FieldManager fields_;
};

}  // namespace
}  // namespace registry

Result<std::shared_ptr<SubresourceStorage>> make_scale_store(std::shared_ptr<StandardStorage> parent, Host::ScalePaths paths) {
  auto store = registry::served_store(parent);
  if (store == nullptr) return internal_error("a scale subresource's parent must be a storage made by this host");
  return std::shared_ptr<SubresourceStorage>(std::make_shared<registry::ScaleStore>(std::move(store), std::move(paths)));
}

}  // namespace backplane
