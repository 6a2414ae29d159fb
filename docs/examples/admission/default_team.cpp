// A mutating plugin with a configuration, {"team": "blue"}: config maps without the label "team" get that team.
#include <backplane/core/meta.hpp>
#include <backplane/types/schema.hpp>

#include "rules.hpp"

namespace {

class DefaultTeam final : public AdmissionPlugin {
 public:
  explicit DefaultTeam(std::string team) : team_(std::move(team)) {}
  std::string_view name() const noexcept override { return "DefaultTeam"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kCreate; }
  bool validates() const noexcept override { return false; }
  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    if (!is_config_map(attributes)) return Status();
    Object& labels = ObjectMeta(*attributes.object).mutable_labels();
    if (!get_string(labels, "team").empty()) return Status();
    labels["team"] = team_;
    attributes.warn("the config map belongs to team " + team_ + " because it names none");
    attributes.reinvocation->request();  // plugins that have already read the labels run again
    return attributes.annotate("teams.example.com/defaulted", team_);
  }

 private:
  const std::string team_;
};

Result<std::shared_ptr<AdmissionPlugin>> make(const AdmissionPluginConfig& config) {
  auto tree = parse_json(config.configuration.empty() ? R"({"team": "everybody"})" : config.configuration, {}, nullptr);
  if (!tree.ok()) return std::move(tree.status());
  const std::string_view team = tree->is_object() ? get_string(tree->get_object(), "team") : std::string_view();
  if (team.empty()) return bad_request("the configuration of DefaultTeam needs the field team");
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<DefaultTeam>(std::string(team)));
}

}  // namespace

AdmissionRegistration default_team() {
  AdmissionRegistration registration;
  registration.name = "DefaultTeam";
  registration.factory = make;
  registration.in_front_of = {"MutatingAdmissionWebhook"};
  return registration;
}
