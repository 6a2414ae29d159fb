// Two mutating admission plugins. The second one changes labels that the first one has read, and requests a reinvocation:
//   TierStamper   copies the label "tier" of config maps to the annotation "stamped-tier", and records the pass and the options
//   TierDefaulter sets the label "tier" of config maps that lack it to the value in its configuration ({"tier": "gold"})
#include <backplane/plugin.hpp>
#include "backplane/points/admission.hpp"
#include "backplane/types/schema.hpp"

namespace {

using namespace backplane;

bool is_config_map(const AdmissionAttributes& attributes) {
  return attributes.object != nullptr && attributes.resource.group.empty() && attributes.resource.resource == "configmaps";
}

bool writes(AdmissionOperation operation) { return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate; }

class TierStamper final : public AdmissionPlugin {
 public:
  std::string_view name() const noexcept override { return "TierStamper"; }
  bool handles(AdmissionOperation operation) const noexcept override { return writes(operation); }
  Task<Status> admit(AdmissionAttributes& attributes) const override {
    if (!is_config_map(attributes)) co_return Status();
    ObjectMeta meta(*attributes.object);
    const Object* labels = meta.labels();
    const std::string tier(labels != nullptr ? get_string(*labels, "tier") : std::string_view());
    Object& annotations = meta.mutable_annotations();
    annotations["stamped-tier"] = tier;
    annotations["stamped-in"] = attributes.reinvocation->again() ? "second pass" : "first pass";
    annotations["stamped-by"] = attributes.user->name;
    annotations["stamped-options"] = to_json(admission_options(attributes, {}));
    co_return Status();
  }
};

class TierDefaulter final : public AdmissionPlugin {
 public:
  explicit TierDefaulter(std::string tier) : tier_(std::move(tier)) {}
  std::string_view name() const noexcept override { return "TierDefaulter"; }
  bool handles(AdmissionOperation operation) const noexcept override { return writes(operation); }
  Task<Status> admit(AdmissionAttributes& attributes) const override {
    if (!is_config_map(attributes)) co_return Status();
    Object& labels = ObjectMeta(*attributes.object).mutable_labels();
    if (!get_string(labels, "tier").empty()) co_return Status();
    labels["tier"] = tier_;
    attributes.warn("the tier is " + tier_ + " unless you say otherwise");
    Status noted = attributes.annotate("tiers.example.com/defaulted", tier_);
    attributes.reinvocation->request();  // plugins that have already read the labels run again
    co_return noted;
  }

 private:
  std::string tier_;
};

Result<std::shared_ptr<AdmissionPlugin>> make_defaulter(const AdmissionPluginConfig& config) {
  if (config.configuration.empty()) return std::shared_ptr<AdmissionPlugin>(std::make_shared<TierDefaulter>("bronze"));
  auto tree = parse_json(config.configuration, {}, nullptr);
  if (!tree.ok()) return std::move(tree.status());
  const auto tier = tree->is_object() ? get_string(tree->get_object(), "tier") : std::string_view();
  if (tier.empty()) return bad_request("tier must be given");
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<TierDefaulter>(std::string(tier)));
}

class Relabel final : public Plugin {
 public:
  Status provision(Host& host) override {
    AdmissionRegistration defaulter;
    defaulter.name = "TierDefaulter";
    defaulter.factory = make_defaulter;
    defaulter.in_front_of = {"MutatingAdmissionWebhook"};
    AdmissionRegistration stamper;
    stamper.name = "TierStamper";
    stamper.factory = [](const AdmissionPluginConfig&) {
      return Result<std::shared_ptr<AdmissionPlugin>>(std::make_shared<TierStamper>());
    };
    stamper.in_front_of = {"TierDefaulter"};
    Status status = host.register_admission(std::move(stamper));
    if (status.ok()) status = host.register_admission(std::move(defaulter));
    return status;
  }
};

}  // namespace

BACKPLANE_PLUGIN(Relabel)
