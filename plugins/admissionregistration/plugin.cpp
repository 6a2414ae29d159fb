// The plugin `admissionregistration`: the group admissionregistration.k8s.io.
#include "backplane/plugin.hpp"

#include <mutex>
#include <set>

#include "admissionregistration_former_json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/group.hpp"
#include "backplane/rest/former_versions.hpp"
#include "backplane/rest/store_hooks.hpp"
#include "kinds.hpp"
#include "param_authorization.hpp"

namespace backplane::admissionregistration {
namespace {

// Says once of each kind of webhooks that its objects are stored and not enforced.
class NotEnforced final : public StoreHooks {
 public:
  explicit NotEnforced(Logger& logger) : logger_(logger) {}

  void after_create(RequestContext& context, const ObjectRef& stored) const override {
    if (context.info.resource.find("webhook") == std::string::npos) return;
    {
      const std::lock_guard lock(mutex_);
      if (!said_.insert(context.info.resource).second) return;
    }
    logger_.warn("admission webhooks are stored but not enforced yet resource=" + context.info.resource +
                 " name=" + std::string(stored->name));
  }

 private:
  Logger& logger_;
  mutable std::mutex mutex_;
  mutable std::set<std::string> said_;
};

class AdmissionregistrationPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    auto hooks = std::make_shared<const NotEnforced>(host.logger());
    const auto schemas = admissionregistration_schemas();
    Status status = kit::install_group(host, "admissionregistration", admissionregistration_group(std::move(hooks)), schemas);
    if (!status.ok()) return status;
    status = host.register_admission(make_param_authorization(host));
    if (!status.ok()) return status;
    return add_former_versions(host.scheme(), "admissionregistration", admissionregistration_former_json(), schemas.front());
  }
};

}  // namespace
}  // namespace backplane::admissionregistration

BACKPLANE_PLUGIN(backplane::admissionregistration::AdmissionregistrationPlugin)
