// An admission plugin that counts the config maps with the label "counted": it changes the config map "count" of the namespace in the
// transaction of each create and delete, and refuses the 21st config map.
#include <backplane/core/json.hpp>
#include <backplane/core/meta.hpp>
#include <backplane/core/request.hpp>
#include <backplane/plugin.hpp>
#include <backplane/points/admission.hpp>
#include <backplane/rest/standard_storage.hpp>
#include <backplane/rest/store_hooks.hpp>
#include <backplane/types/schema.hpp>

namespace {

using namespace backplane;

constexpr std::string_view kCount = "count";
constexpr std::int64_t kMost = 20;
const GroupVersionResource kConfigMaps{"", "v1", "configmaps"};

bool is_counted(const Object* object) {
  const Object* labels = object != nullptr ? ObjectMeta(const_cast<Object&>(*object)).labels() : nullptr;
  return labels != nullptr && !get_string(*labels, "counted").empty();
}

class CountWrite final : public BegunWrite {
 public:
  CountWrite(const AdmissionAttributes& attributes, std::shared_ptr<RestStorage> storage, int change)
      : attributes_(attributes), storage_(std::move(storage)), change_(change) {
    attributes_.object = nullptr;
    attributes_.old_object = nullptr;
  }

  Task<Result<bool>> join(RequestContext&, StoreTransaction& transaction) override {
    auto* const maps = role_of<StandardStorage>(storage_);
    RequestContext own;
    own.info.ns = attributes_.ns;
    auto reading = maps->get(own, std::string(kCount), GetOptions());
    auto found = co_await std::move(reading);
    Object map = found.ok() ? decode(**found, {}) : Object();
    if (!found.ok()) {
      map["kind"] = "ConfigMap";
      map["apiVersion"] = "v1";
      ObjectMeta meta(map);
      meta.set("name", std::string(kCount));
      meta.set("namespace", attributes_.ns);
    }
    Object& data = ensure_object(map, "data");
    const std::string_view before = get_string(data, "n");
    const std::int64_t now = (before.empty() ? 0 : std::stoll(std::string(before))) + change_;
    if (now > kMost) co_return admission_forbidden(attributes_, "exceeded count");
    data["n"] = std::to_string(now);
    Status joined = found.ok() ? transaction.replace(*maps, *found, std::move(map))
                               : transaction.create(*maps, attributes_.ns, std::string(kCount), std::move(map));
    if (!joined.ok()) co_return joined;
    co_return true;
  }

 private:
  AdmissionAttributes attributes_;
  const std::shared_ptr<RestStorage> storage_;
  const int change_;
};

class ConfigMapCounter final : public AdmissionPlugin {
 public:
  explicit ConfigMapCounter(Host& host) : host_(host) {}
  std::string_view name() const noexcept override { return "ConfigMapCounter"; }
  bool handles(AdmissionOperation operation) const noexcept override { return begins(operation); }
  bool begins(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kDelete;
  }
  Task<Result<std::unique_ptr<BegunWrite>>> begin(const AdmissionAttributes& attributes) const override {
    const bool creates = attributes.operation == AdmissionOperation::kCreate;
    if (attributes.resource != kConfigMaps || !is_counted(creates ? attributes.object : attributes.old_object)) {
      co_return std::unique_ptr<BegunWrite>();
    }
    co_return std::make_unique<CountWrite>(attributes, host_.find_storage(kConfigMaps), creates ? 1 : -1);
  }

 private:
  Host& host_;
};

class Counter final : public Plugin {
 public:
  Status provision(Host& host) override { return host.register_admission(std::make_shared<ConfigMapCounter>(host)); }
};

}  // namespace

BACKPLANE_PLUGIN(Counter)
