#include "strategy.hpp"

#include <backplane/names.hpp>

#include "table.hpp"

namespace backplane {
namespace {

constexpr std::int64_t kMaxGroupPriority = 20000;
constexpr std::int64_t kMaxVersionPriority = 1000;
constexpr std::int64_t kDefaultPort = 443;

void add_problems(FieldErrors& errors, const std::string& field, std::string_view value, const Problems& problems) {
  for (const auto& problem : problems) errors.invalid(field, value, problem);
}

void check_priority(FieldErrors& errors, const Object& spec, std::string_view key, std::int64_t limit) {
  const std::int64_t value = get_int(spec, key).value_or(0);
  if (value > 0 && value <= limit) return;
  errors.invalid("spec." + std::string(key), value, "must be positive and less than " + std::to_string(limit));
}

void check_service(FieldErrors& errors, const Object& spec) {
  const Object* service = get_object(spec, "service");
  const bool insecure = get_bool(spec, "insecureSkipTLSVerify").value_or(false);
  const std::string_view bundle = get_string(spec, "caBundle");
  if (service == nullptr) {
    if (!bundle.empty())
      errors.invalid_raw("spec.caBundle", std::to_string(bundle.size()) + " bytes", "local APIServices may not have a caBundle");
    if (insecure) errors.invalid_raw("spec.insecureSkipTLSVerify", "true", "local APIServices may not have insecureSkipTLSVerify");
    return;
  }
  if (get_string(*service, "namespace").empty()) errors.required("spec.service.namespace");
  if (get_string(*service, "name").empty()) errors.required("spec.service.name");
  const std::int64_t port = get_int(*service, "port").value_or(kDefaultPort);
  for (const auto& problem : is_valid_port_num(port)) errors.invalid("spec.service.port", port, "port is not valid: " + problem);
  if (insecure && !bundle.empty()) errors.invalid_raw("spec.insecureSkipTLSVerify", "true", "may not be true if caBundle is present");
}

void check_apiservice(const Object& object, FieldErrors& errors) {
  static const Object kNone;
  const Object* found = get_object(object, "spec");
  const Object& spec = found ? *found : kNone;
  const std::string group(get_string(spec, "group"));
  const std::string version(get_string(spec, "version"));
  const std::string wanted = version + "." + group;
  const std::string_view name = meta_name(object);
  const bool path_segment = is_path_segment_name(name).empty();
  if (!name.empty() && path_segment && name != wanted)
    errors.invalid("metadata.name", name, "must be `spec.version+\".\"+spec.group`: " + quoted(wanted));

  if (group.empty()) {
    if (version != "v1") errors.required("spec.group", "only v1 may have an empty group and it better be legacy kube");
  } else {
    add_problems(errors, "spec.group", group, is_dns1123_subdomain(group));
  }
  add_problems(errors, "spec.version", version, is_dns1035_label(version));
  check_priority(errors, spec, "groupPriorityMinimum", kMaxGroupPriority);
  check_priority(errors, spec, "versionPriority", kMaxVersionPriority);
  check_service(errors, spec);
}

class ApiServiceStrategy final : public Strategy {
 public:
  bool namespaced() const override { return false; }
  NameRule name_rule() const override { return NameRule::kPathSegment; }
  bool allow_unconditional_update() const override { return false; }
  bool has_status() const override { return true; }
  const TableConvertor& table_convertor() const override { return apiservice_table(); }

  void apply_defaults(Object& object) const override {
    Object* spec = object.contains("spec") && object["spec"].is_object() ? &object["spec"].get_object() : nullptr;
    Value* service = spec ? find(*spec, "service") : nullptr;
    if (service && service->is_object() && !find(service->get_object(), "port")) service->get_object()["port"] = kDefaultPort;
  }
  void prepare_for_create(RequestContext&, Object& object) const override { object["status"] = Object(object.storage()); }
  void prepare_for_update(RequestContext&, Object& object, const Object& old) const override {
    const Value* status = find(old, "status");
    if (status) {
      object["status"] = *status;
    } else {
      object["status"] = Object(object.storage());
    }
  }
  void validate(RequestContext&, const Object& object, FieldErrors& errors) const override { check_apiservice(object, errors); }
  void validate_update(RequestContext&, const Object& object, const Object&, FieldErrors& errors) const override {
    check_apiservice(object, errors);
  }
};

class ApiServiceStatusStrategy final : public Strategy {
 public:
  bool namespaced() const override { return false; }
  NameRule name_rule() const override { return NameRule::kPathSegment; }
  bool allow_unconditional_update() const override { return false; }
  void prepare_for_update(RequestContext&, Object& object, const Object& old) const override {
    if (const Value* spec = find(old, "spec")) object["spec"] = *spec;
    const Object* before = get_object(old, "metadata");
    Object& metadata = ensure_object(object, "metadata");
    for (std::string_view key : {"labels", "annotations", "finalizers", "ownerReferences"}) {
      const Value* kept = before ? find(*before, key) : nullptr;
      if (kept) {
        metadata[key] = *kept;
      } else {
        metadata.erase(key);
      }
    }
  }
  void validate_update(RequestContext&, const Object& object, const Object&, FieldErrors& errors) const override {
    const Value* conditions = find_path(object, "status.conditions");
    if (!conditions || !conditions->is_array()) return;
    std::size_t index = 0;
    for (const auto& item : conditions->get_array()) {
      const std::string path = "status.conditions[" + std::to_string(index++) + "].status";
      const std::string_view status = item.is_object() ? get_string(item.get_object(), "status") : std::string_view();
      if (status != "True" && status != "False" && status != "Unknown") errors.not_supported(path, status, {"False", "True", "Unknown"});
    }
  }
};

}  // namespace

std::shared_ptr<const Strategy> make_apiservice_strategy() { return std::make_shared<ApiServiceStrategy>(); }
std::shared_ptr<const Strategy> make_apiservice_status_strategy() { return std::make_shared<ApiServiceStatusStrategy>(); }

}  // namespace backplane
