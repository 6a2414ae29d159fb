#include "strategy.hpp"

#include <algorithm>

#include <backplane/rest/written_fields.hpp>
#include <backplane/types/names.hpp>

#include "autoregister.hpp"
#include "table.hpp"

namespace backplane {
namespace {

constexpr std::int64_t kDefaultPort = 443;

// Returns the number of bytes that a base64 text encodes.
std::size_t decoded_size(std::string_view text) {
  return text.size() / 4 * 3 - static_cast<std::size_t>(std::count(text.begin(), text.end(), '='));
}

void check_service(FieldErrors& errors, const Object& spec) {
  const Object* service = get_object(spec, "service");
  const bool insecure = get_bool(spec, "insecureSkipTLSVerify").value_or(false);
  const std::string_view bundle = get_string(spec, "caBundle");
  if (service == nullptr) {
    if (!bundle.empty())
      errors.invalid("spec.caBundle", std::to_string(decoded_size(bundle)) + " bytes", "local APIServices may not have a caBundle");
    if (insecure) errors.invalid_raw("spec.insecureSkipTLSVerify", "true", "local APIServices may not have insecureSkipTLSVerify");
    return;
  }
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
  // The prefix of a generated name has the same rules.
  for (const std::string_view member : {"generateName", "name"}) {
    const std::string_view name = meta_text(object, member);
    if (name.empty() || name == wanted || !is_path_segment_name(name).empty()) continue;
    errors.invalid("metadata." + std::string(member), name, "must be `spec.version+\".\"+spec.group`: " + quoted(wanted));
  }

  if (group.empty() && version != "v1") errors.required("spec.group", "only v1 may have an empty group and it better be legacy kube");
  check_service(errors, spec);
}

class ApiServiceStrategy final : public Strategy {
 public:
  ApiServiceStrategy()
      : Strategy({.namespaced = false,
                  .name_rule = NameRule::kPathSegment,
                  .unconditional_update = false,
                  .status = true,
                  .columns = apiservice_columns()}) {}

  void prepare_for_create(RequestContext&, Object& object) const override {
    object["status"] = Object(object.storage());
    const Object* spec = get_object(object, "spec");
    // APIServices of group versions that this server serves are available at once.
    if (spec == nullptr || get_object(*spec, "service") == nullptr) set_availability(object, local_availability());
  }
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
  ApiServiceStatusStrategy()
      : Strategy({.namespaced = false,
                  .name_rule = NameRule::kPathSegment,
                  .unconditional_update = false,
                  .checked = ObjectPart::kStatus,
                  .has_tables = false}) {}
  std::optional<WrittenFields> written_fields() const override { return WrittenFields{.resets = {"spec", "metadata"}}; }
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
};

}  // namespace

std::shared_ptr<const Strategy> make_apiservice_strategy() { return std::make_shared<ApiServiceStrategy>(); }
std::shared_ptr<const Strategy> make_apiservice_status_strategy() { return std::make_shared<ApiServiceStatusStrategy>(); }

}  // namespace backplane
