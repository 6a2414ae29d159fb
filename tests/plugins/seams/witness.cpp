// An admission plugin that records the attributes of each call as a JSON object. GET /witness returns the records and removes them.
//
// The annotation "witness" of an object makes the plugin refuse or change a write of the object:
//   refuse-admit, refuse-validate   mutating or validating admission refuses the write
//   spoil-managers                  mutating admission makes metadata.managedFields unreadable
//   change-managers                 mutating admission renames the first manager
#include <mutex>

#include <backplane/core/json_access.hpp>
#include <backplane/core/meta.hpp>
#include <backplane/core/request.hpp>
#include <backplane/plugin.hpp>
#include <backplane/points/admission.hpp>
#include <backplane/points/http.hpp>
#include <backplane/points/paths.hpp>

namespace {

using namespace backplane;

class Records {
 public:
  void add(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_ += (lines_.empty() ? "" : ",") + line;
  }
  std::string take() {
    const std::lock_guard lock(mutex_);
    return "[" + std::exchange(lines_, {}) + "]";
  }

 private:
  std::mutex mutex_;
  std::string lines_;
};

std::string kind_text(const GroupVersionKind& kind) { return kind.group_version().to_string() + " " + kind.kind; }

std::string kind_of(const Object* object) {
  return object == nullptr ? "" : std::string(get_string(*object, "apiVersion")) + " " + std::string(get_string(*object, "kind"));
}

std::string record_of(std::string_view step, const AdmissionAttributes& attributes) {
  Object out;
  out["step"] = step;
  out["operation"] = admission_operation_name(attributes.operation);
  out["resource"] = attributes.resource.group_version().to_string() + " " + attributes.resource.resource;
  out["subresource"] = attributes.subresource;
  out["kind"] = kind_text(attributes.kind);
  out["requestKind"] = kind_text(attributes.request_kind);
  out["namespace"] = attributes.ns;
  out["name"] = attributes.name;
  out["dryRun"] = attributes.dry_run;
  out["user"] = attributes.user->name;
  out["object"] = kind_of(attributes.object);
  out["oldObject"] = kind_of(attributes.old_object);
  out["options"] = admission_options(attributes, {});
  if (attributes.operation == AdmissionOperation::kConnect && attributes.object != nullptr) out["connect"] = *attributes.object;
  return to_json(out);
}

std::string_view instruction_of(const AdmissionAttributes& attributes) {
  if (attributes.object == nullptr) return {};
  return get_string(object_or_empty(object_or_empty(*attributes.object, "metadata"), "annotations"), "witness");
}

class Witness final : public AdmissionPlugin {
 public:
  explicit Witness(std::shared_ptr<Records> records) : records_(std::move(records)) {}
  std::string_view name() const noexcept override { return "Witness"; }
  bool handles(AdmissionOperation) const noexcept override { return true; }
  bool reads_managed_fields() const noexcept override { return true; }
  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    records_->add(record_of("admit", attributes));
    const std::string_view instruction = instruction_of(attributes);
    if (instruction == "refuse-admit") return admission_forbidden(attributes, "the witness refuses to admit it");
    if (instruction == "spoil-managers" || instruction == "change-managers")
      change_managers(*attributes.object, instruction == "spoil-managers");
    return Status();
  }
  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    records_->add(record_of("validate", attributes));
    if (instruction_of(attributes) == "refuse-validate") return admission_forbidden(attributes, "the witness refuses it");
    return Status();
  }

 private:
  static void change_managers(Object& object, bool spoil) {
    for (Value& each : ensure_array(ObjectMeta(object).mutable_metadata(), "managedFields")) {
      if (spoil) each.as_object()["fieldsType"] = "Wrong";
      each.as_object()["manager"] = "witness";
    }
  }

  std::shared_ptr<Records> records_;
};

class Page final : public HttpHandler {
 public:
  explicit Page(std::shared_ptr<Records> records) : records_(std::move(records)) {}
  Task<void> handle(RequestContext&, Exchange& exchange) override {
    std::vector<SharedBytes> body;
    body.emplace_back(records_->take());
    co_await exchange.respond(200, "application/json", std::move(body));
  }

 private:
  std::shared_ptr<Records> records_;
};

class WitnessPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    auto records = std::make_shared<Records>();
    Status status = host.handle({"/witness", false, false, std::make_shared<Page>(records)});
    if (!status.ok()) return status;
    return host.register_admission(std::make_shared<Witness>(records));
  }
};

}  // namespace

BACKPLANE_PLUGIN(WitnessPlugin)
