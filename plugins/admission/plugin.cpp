// The plugin `admission`: kube-apiserver's admission plugins, except NamespaceLifecycle, which is in the plugin `core`.
#include "backplane/plugin.hpp"

#include "accounts/rows.hpp"
#include "certificates/rows.hpp"
#include "network/rows.hpp"
#include "nodes/rows.hpp"
#include "objects/rows.hpp"
#include "pods/rows.hpp"
#include "podsecurity/rows.hpp"
#include "policies/rows.hpp"
#include "quota/rows.hpp"
#include "storage/rows.hpp"
#include "webhooks/rows.hpp"

namespace backplane::admission {
namespace {

class AdmissionPlugins final : public Plugin {
 public:
  Status provision(Host& host) override {
    auto services = std::make_shared<Services>(host);
    for (const auto& rows : {object_plugins(), pod_plugins(), account_plugins(), node_plugins(), storage_plugins(), certificate_plugins(),
                             network_plugins(), pod_security_plugins(), quota_plugins(), webhook_plugins(), policy_plugins()}) {
      for (const PluginRow& row : rows) {
        AdmissionRegistration registration;
        registration.name = row.name;
        registration.factory = [services, make = row.make](const AdmissionPluginConfig& config) { return make(*services, config); };
        Status status = host.register_admission(std::move(registration));
        if (!status.ok()) return status;
      }
    }
    host.spawn("admission-informers", Services::run(services));
    return {};
  }
};

}  // namespace
}  // namespace backplane::admission

BACKPLANE_PLUGIN(backplane::admission::AdmissionPlugins)
