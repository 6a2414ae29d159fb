// A validating plugin with an informer: the label "team" of a config map names a namespace.
#include <backplane/core/meta.hpp>

#include "rules.hpp"

namespace {

class KnownTeam final : public AdmissionPlugin {
 public:
  explicit KnownTeam(std::shared_ptr<SharedInformer> namespaces) : namespaces_(std::move(namespaces)) {}
  std::string_view name() const noexcept override { return "KnownTeam"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }
  bool mutates() const noexcept override { return false; }
  // Writes wait until the informer has read all namespaces.
  bool ready() const noexcept override { return namespaces_->has_synced(); }
  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (!is_config_map(attributes)) return Status();
    const std::string team(get_string_path(*attributes.object, "metadata.labels.team"));
    if (team.empty() || team == "everybody" || namespaces_->indexer().get(team) != nullptr) return Status();
    return admission_forbidden(attributes, "there is no team " + team);
  }

 private:
  const std::shared_ptr<SharedInformer> namespaces_;
};

}  // namespace

AdmissionRegistration known_team(SharedInformerFactory& informers) {
  AdmissionRegistration registration;
  registration.name = "KnownTeam";
  auto namespaces = informers.for_resource({"", "v1", "namespaces"});
  registration.factory = [namespaces](const AdmissionPluginConfig&) {
    return Result<std::shared_ptr<AdmissionPlugin>>(std::make_shared<KnownTeam>(namespaces));
  };
  return registration;
}
