#include "policies/mutating.hpp"

#include "policies/policy_config.hpp"
#include "policies/policy_mutation.hpp"

namespace backplane::admission::policies {
namespace {

class MutatingPolicies final : public AdmissionPlugin {
 public:
  // `source`: null if the feature gate is off.
  explicit MutatingPolicies(std::shared_ptr<PolicySource> source) : source_(std::move(source)) {}

  std::string_view name() const noexcept override { return "MutatingAdmissionPolicy"; }
  // The body of a delete is no object, so it cannot be changed.
  bool handles(AdmissionOperation operation) const noexcept override {
    return source_ != nullptr && operation != AdmissionOperation::kDelete;
  }
  bool validates() const noexcept override { return false; }
  bool ready() const noexcept override { return source_ == nullptr || source_->ready(); }
  bool reads_managed_fields() const noexcept override {
    const auto index = source_ == nullptr ? nullptr : source_->index();
    return index != nullptr && index->reads_managed_fields();
  }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    if (source_->index()->targets(attributes.resource, attributes.subresource) == nullptr) return Status();
    return std::nullopt;
  }

  Task<Status> admit(AdmissionAttributes& attributes) const override {
    auto index = source_->index();
    auto targets = index->targets(attributes.resource, attributes.subresource);
    if (targets == nullptr) co_return Status();
    auto mutating = mutate_by_policies(*source_, attributes, std::move(index), std::move(targets));
    Status admitted = co_await std::move(mutating);
    co_return admitted;
  }

 private:
  const std::shared_ptr<PolicySource> source_;
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_mutating_policies(Services& services, const AdmissionPluginConfig& config) {
  auto directory = read_policy_config(config, "MutatingAdmissionPolicyConfiguration", services.gate("ManifestBasedAdmissionControlConfig"));
  if (!directory.ok()) return std::move(directory.status());
  std::shared_ptr<PolicySource> source;
  if (services.gate("MutatingAdmissionPolicy")) {
    source = std::make_shared<PolicySource>(services, PolicyType::kMutating);
    if (Status started = source->start(*directory); !started.ok()) return started;
  }
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<MutatingPolicies>(std::move(source)));
}

}  // namespace backplane::admission::policies
