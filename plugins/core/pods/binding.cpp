#include "pods/binding.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/request.hpp"
#include "backplane/rest/update_info.hpp"
#include "pods/inner_write.hpp"

namespace backplane::core {
namespace {

ObjectRef created_status() {
  static const ObjectRef status = [] {
    Object object;
    object["kind"] = "Status";
    object["apiVersion"] = "v1";
    object["metadata"].emplace_object();
    object["status"] = "Success";
    object["code"] = 201;
    return make_object(object);
  }();
  return status;
}

// As in kube-apiserver, the error has the code 500 and only a message.
Status validate_binding(const Object& binding) {
  FieldErrors errors;
  const Object& target = object_or_empty(binding, "target");
  const std::string_view kind = get_string(target, "kind");
  if (!kind.empty() && kind != "Node") errors.not_supported("target.kind", kind, {"Node", "<empty>"});
  if (get_string(target, "name").empty()) errors.required("target.name");
  return errors.empty() ? Status() : Status(500, Reason::kNone, errors.aggregate_message());
}

// Sets the condition PodScheduled to True, and removes the reason why the pod was not scheduled before.
void set_scheduled(Object& pod) {
  Array& conditions = ensure_array(ensure_object(pod, "status"), "conditions");
  Object scheduled;
  scheduled["type"] = "PodScheduled";
  scheduled["status"] = "True";
  scheduled["lastTransitionTime"] = now_rfc3339();
  for (Value& item : conditions) {
    if (!item.is_object() || get_string(item.get_object(), "type") != "PodScheduled") continue;
    if (get_string(item.get_object(), "status") == "True") take_member(scheduled, item.get_object(), "lastTransitionTime");
    item = std::move(scheduled);
    return;
  }
  conditions.emplace_back(std::move(scheduled));
}

// Copies the entries of the binding's labels or annotations (`member`) to the pod.
void take_entries(Object& pod, const Object& binding, std::string_view member) {
  const Object* entries = get_object(object_or_empty(binding, "metadata"), member);
  if (entries == nullptr || entries->empty()) return;
  Object& own = ensure_object(ensure_object(pod, "metadata"), member);
  for (const auto& entry : *entries) own[entry.key()] = entry.value();
}

class Bind final : public UpdatedObjectInfo {
 public:
  Bind(const Object& binding, std::string name) : binding_(binding), name_(std::move(name)) {}

  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override {
    if (existing == nullptr) co_return not_found("", "pods", name_);
    if (!meta_text(*existing, "deletionTimestamp").empty()) {
      co_return refuse("pod " + name_ + " is being deleted, cannot be assigned to a host");
    }
    const std::string_view node = get_string_path(*existing, "spec.nodeName");
    if (!node.empty()) co_return refuse("pod " + name_ + " is already assigned to node " + quoted(node));
    const Array* gates = get_array(object_or_empty(*existing, "spec"), "schedulingGates");
    if (gates != nullptr && !gates->empty()) co_return refuse("pod " + name_ + " has non-empty .spec.schedulingGates");
    Object pod(*existing, context.arena());
    ensure_object(pod, "spec")["nodeName"] = std::string(get_string_path(binding_, "target.name"));
    erase_member(ensure_object(pod, "status"), "nominatedNodeName");
    for (std::string_view member : {"annotations", "labels"}) take_entries(pod, binding_, member);
    set_scheduled(pod);
    co_return pod;
  }
  Preconditions preconditions() const override {
    Preconditions out;
    if (const std::string_view uid = meta_text(binding_, "uid"); !uid.empty()) out.uid = std::string(uid);
    if (const std::string_view version = meta_text(binding_, "resourceVersion"); !version.empty()) {
      out.resource_version = std::string(version);
    }
    return out;
  }

 private:
  Status refuse(const std::string& why) const { return conflict("", "pods/binding", name_, why); }
  const Object& binding_;
  std::string name_;
};

// Common part of both ways of binding.
class BindingBase : public RestStorage, public Scoper {
 public:
  BindingBase(std::shared_ptr<SubresourceStorage> pods, const Schema* schema) : pods_(std::move(pods)), schema_(schema) {}
  GroupVersionKind kind() const override { return {"", "v1", "Binding"}; }
  const Schema* schema() const override { return schema_; }
  bool namespaced() const override { return true; }

 protected:
  // `validation`: null: no validation.
  Task<Result<ObjectRef>> bind(RequestContext& context, std::string name, const Object& binding, WriteOptions options,
                               CreateValidation* validation) {
    Status valid = validate_binding(binding);
    if (valid.ok() && validation != nullptr) valid = co_await validation->validate(binding);
    if (!valid.ok()) co_return valid;
    Bind change(binding, name);
    RequestContext inner;
    begin_inner_write(inner, context);
    auto updating = pods_->update(inner, name, change, std::move(options), false);
    auto updated = co_await std::move(updating);
    if (!updated.ok()) co_return std::move(updated).status();
    co_return created_status();
  }

 private:
  std::shared_ptr<SubresourceStorage> pods_;
  const Schema* schema_;
};

class PodBinding final : public BindingBase, public NamedCreater, public ValidatedCreater {
 public:
  using BindingBase::BindingBase;
  Task<Result<ObjectRef>> create_named(RequestContext& context, std::string name, Object& object, WriteOptions options) override {
    co_return co_await bind_named(context, std::move(name), object, std::move(options), nullptr);
  }
  Task<Result<ObjectRef>> create_validated(RequestContext& context, std::string name, Object& object, WriteOptions options,
                                           CreateValidation& validation) override {
    co_return co_await bind_named(context, std::move(name), object, std::move(options), &validation);
  }

 private:
  Task<Result<ObjectRef>> bind_named(RequestContext& context, std::string name, const Object& object, WriteOptions options,
                                     CreateValidation* validation) {
    if (meta_name(object) != name) co_return bad_request("name in URL does not match name in Binding object");
    co_return co_await bind(context, std::move(name), object, std::move(options), validation);
  }
};

class Bindings final : public BindingBase, public Creater, public ValidatedCreater, public SingularNameProvider {
 public:
  using BindingBase::BindingBase;
  std::string singular_name() const override { return "binding"; }
  Task<Result<ObjectRef>> create(RequestContext& context, Object& object, WriteOptions options) override {
    std::string name(meta_name(object));
    co_return co_await bind(context, std::move(name), object, std::move(options), nullptr);
  }
  Task<Result<ObjectRef>> create_validated(RequestContext& context, std::string name, Object& object, WriteOptions options,
                                           CreateValidation& validation) override {
    co_return co_await bind(context, std::move(name), object, std::move(options), &validation);
  }
};

}  // namespace

std::shared_ptr<RestStorage> make_pod_binding(std::shared_ptr<SubresourceStorage> pods, const Schema* binding_schema) {
  return std::make_shared<PodBinding>(std::move(pods), binding_schema);
}
std::shared_ptr<RestStorage> make_bindings(std::shared_ptr<SubresourceStorage> pods, const Schema* binding_schema) {
  return std::make_shared<Bindings>(std::move(pods), binding_schema);
}

}  // namespace backplane::core
