// A validating plugin whose rule is a CEL expression, by default or from its configuration, {"rule": "…"}.
#include <backplane/types/cel.hpp>
#include <backplane/types/schema.hpp>

#include "rules.hpp"

namespace {

constexpr std::string_view kDefaultRule = "data.all(key, data[key].size() <= 1000)";

class ShortValues final : public AdmissionPlugin {
 public:
  explicit ShortValues(std::shared_ptr<const cel::Program> rule) : rule_(std::move(rule)) {}
  std::string_view name() const noexcept override { return "ShortValues"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }
  bool mutates() const noexcept override { return false; }
  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    const Value* data = is_config_map(attributes) ? find(*attributes.object, "data") : nullptr;
    if (data == nullptr) return Status();
    const cel::Binding bindings[] = {{"data", data}};
    cel::Budget budget;
    const cel::Outcome outcome = cel::run(*rule_, bindings, budget);
    if (outcome.end == cel::Outcome::End::kValue && outcome.value == Value(true)) return Status();
    return admission_forbidden(attributes, "failed expression: " + std::string(rule_->source()));
  }

 private:
  const std::shared_ptr<const cel::Program> rule_;
};

Result<std::shared_ptr<AdmissionPlugin>> make(const AdmissionPluginConfig& config) {
  std::string rule(kDefaultRule);
  if (!config.configuration.empty()) {
    auto tree = parse_json(config.configuration, {}, nullptr);
    if (!tree.ok()) return std::move(tree.status());
    rule = tree->is_object() ? get_string(tree->get_object(), "rule") : std::string_view();
  }
  cel::EnvironmentOptions options;
  options.variables.push_back({"data", cel::named_type("dyn")});
  const cel::Compiled compiled = cel::Environment::make(std::move(options))->compile(rule);
  if (compiled.program == nullptr) return bad_request(compiled.problems);
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<ShortValues>(compiled.program));
}

}  // namespace

AdmissionRegistration short_values() {
  AdmissionRegistration registration;
  registration.name = "ShortValues";
  registration.factory = make;
  return registration;
}
