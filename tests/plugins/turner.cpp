// A mutating admission plugin that sets the type of services to the value of the annotation "turner", "ExternalName" or "ClusterIP".
#include <backplane/plugin.hpp>
#include "backplane/points/admission.hpp"

namespace {

using namespace backplane;

class Turner final : public AdmissionPlugin {
 public:
  std::string_view name() const noexcept override { return "ServiceTurner"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }
  Task<Status> admit(AdmissionAttributes& attributes) const override {
    if (attributes.resource.resource == "services" && attributes.subresource.empty()) turn(*attributes.object);
    co_return Status();
  }

 private:
  static void turn(Object& service) {
    const Object* annotations = ObjectMeta(service).annotations();
    if (annotations == nullptr) return;
    const std::string wanted(get_string(*annotations, "turner"));
    Object& spec = ensure_object(service, "spec");
    if (wanted == "ExternalName") {
      for (const char* key : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"}) erase_member(spec, key);
      spec["externalName"] = "elsewhere.example.com";
    } else if (wanted == "ClusterIP") {
      erase_member(spec, "externalName");
      spec["internalTrafficPolicy"] = "Cluster";
    } else {
      return;
    }
    spec["type"] = wanted;
  }
};

class TurnerPlugin final : public Plugin {
 public:
  Status provision(Host& host) override { return host.register_admission(std::make_shared<Turner>()); }
};

}  // namespace

BACKPLANE_PLUGIN(TurnerPlugin)
