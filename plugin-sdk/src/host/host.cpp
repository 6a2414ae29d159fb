#include "backplane/host.hpp"

#include "backplane/core/logger.hpp"
#include "backplane/plugin.hpp"
#include "backplane/points/admission.hpp"

namespace backplane BACKPLANE_API {

Host::~Host() = default;

Status Host::register_admission(std::shared_ptr<AdmissionPlugin> plugin) {
  if (!plugin) return bad_request("a null admission plugin cannot be registered");
  AdmissionRegistration registration;
  registration.name = plugin->name();
  registration.factory = [plugin](const AdmissionPluginConfig&) { return Result<std::shared_ptr<AdmissionPlugin>>(plugin); };
  return register_admission(std::move(registration));
}

Plugin::~Plugin() = default;
Status Plugin::configure(std::string_view) { return {}; }
Status Plugin::validate() { return {}; }

}  // namespace BACKPLANE_API
