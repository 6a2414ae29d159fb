#include "pods/runtime_class.hpp"

#include "backplane/core/json_access.hpp"
#include "common/resource_list.hpp"
#include "objects/cached_objects.hpp"
#include "objects/request_match.hpp"
#include "pods/tolerations.hpp"

namespace backplane::admission::pods {
namespace {

const GroupVersionResource& runtime_class_resource() {
  static const GroupVersionResource resource("node.k8s.io", "v1", "runtimeclasses");
  return resource;
}

// Returns nullopt if the pod names no class. An empty name is looked up, too.
std::optional<std::string_view> runtime_class_name(const Object& pod) {
  const Value* name = find(object_or_empty(pod, "spec"), "runtimeClassName");
  if (name == nullptr || name->is_null()) return std::nullopt;
  return text_of(*name);
}

Status other_overhead(const AdmissionAttributes& attributes) {
  return admission_forbidden(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
}

// The overhead of the class, or null if it has none.
const Object* overhead_of(const Object* runtime_class) {
  return runtime_class != nullptr ? get_object(*runtime_class, "overhead") : nullptr;
}

Status set_overhead(AdmissionAttributes& attributes, const Object& runtime_class) {
  const Object* overhead = overhead_of(&runtime_class);
  if (overhead == nullptr) return {};
  Object& spec = ensure_object(*attributes.object, "spec");
  const Object *fixed = get_object(*overhead, "podFixed"), *given = get_object(spec, "overhead");
  if (given != nullptr && !given->empty() && !same_amounts(read_resources(*overhead, "podFixed"), read_resources(spec, "overhead")))
    return other_overhead(attributes);
  if (fixed == nullptr) {
    erase_member(spec, "overhead");
  } else {
    spec["overhead"] = *fixed;
  }
  return {};
}

Status set_scheduling(AdmissionAttributes& attributes, const Object& runtime_class) {
  const Object* scheduling = get_object(runtime_class, "scheduling");
  if (scheduling == nullptr) return {};
  Object& spec = ensure_object(*attributes.object, "spec");
  for (const auto& label : object_or_empty(*scheduling, "nodeSelector")) {
    Object& selector = ensure_object(spec, "nodeSelector");
    const Value* given = find(selector, label.key());
    if (given != nullptr && *given != label.value()) {
      const std::string key(label.key());
      return admission_forbidden(attributes, "conflict: runtimeClass.scheduling.nodeSelector[" + key +
                                                 "] = " + std::string(text_of(label.value())) + "; pod.spec.nodeSelector[" + key +
                                                 "] = " + std::string(text_of(*given)));
    }
    selector[label.key()] = label.value();
  }
  Array merged = merge_tolerations(get_array(spec, "tolerations"), get_array(*scheduling, "tolerations"), spec.storage());
  if (merged.empty()) {
    erase_member(spec, "tolerations");
  } else {
    spec["tolerations"] = std::move(merged);
  }
  return {};
}

Status check_overhead(const AdmissionAttributes& attributes, const Object* runtime_class) {
  const Object& spec = object_or_empty(*attributes.object, "spec");
  if (const Object* overhead = overhead_of(runtime_class)) {
    return same_amounts(read_resources(*overhead, "podFixed"), read_resources(spec, "overhead")) ? Status() : other_overhead(attributes);
  }
  if (!has(spec, "overhead")) return {};
  return admission_forbidden(attributes, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
}

class RuntimeClass final : public AdmissionPlugin {
 public:
  explicit RuntimeClass(Services& services) : host_(services.host()), classes_(services.lister(runtime_class_resource())) {}

  std::string_view name() const noexcept override { return "RuntimeClass"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kCreate; }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    if (!objects::is_main_write(attributes, "", "pods")) return Status();
    const auto name = runtime_class_name(*attributes.object);
    if (!name) return Status();
    const ObjectRef entry = classes_.find("", *name);
    if (entry == nullptr) return std::nullopt;
    return set_all(attributes, *entry);
  }
  Task<Status> admit(AdmissionAttributes& attributes) const override {
    auto reading = read(attributes);
    auto entry = co_await std::move(reading);
    co_return entry.ok() ? set_all(attributes, **entry) : std::move(entry).status();
  }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (!objects::is_main_write(attributes, "", "pods")) return Status();
    const auto name = runtime_class_name(*attributes.object);
    if (!name) return check_overhead(attributes, nullptr);
    const ObjectRef entry = classes_.find("", *name);
    if (entry == nullptr) return std::nullopt;
    return check_all(attributes, *entry);
  }
  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    auto reading = read(attributes);
    auto entry = co_await std::move(reading);
    co_return entry.ok() ? check_all(attributes, **entry) : std::move(entry).status();
  }

 private:
  static Status set_all(AdmissionAttributes& attributes, const ObjectEntry& entry) {
    const Object runtime_class = objects::decoded(entry, attributes);
    Status set = set_overhead(attributes, runtime_class);
    return set.ok() ? set_scheduling(attributes, runtime_class) : set;
  }
  static Status check_all(const AdmissionAttributes& attributes, const ObjectEntry& entry) {
    const Object runtime_class = objects::decoded(entry, attributes);
    return check_overhead(attributes, &runtime_class);
  }

  // Reads the class from the store, because the cache may not have it yet.
  Task<Result<ObjectRef>> read(const AdmissionAttributes& attributes) const {
    std::string name(*runtime_class_name(*attributes.object));
    if (name.empty()) co_return Status(500, Reason::kNone, "resource name may not be empty");  // the error of upstream's client
    auto reading = objects::read_live(host_, runtime_class_resource(), {}, name);
    auto found = co_await std::move(reading);
    if (found.ok() || found.status().reason() != Reason::kNotFound) co_return found;
    co_return admission_forbidden(attributes, "pod rejected: RuntimeClass " + backplane::quoted(name) + " not found");
  }

  Host& host_;
  const Lister classes_;
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_runtime_class(Services& services, const AdmissionPluginConfig&) {
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<RuntimeClass>(services));
}

}  // namespace backplane::admission::pods
