#include "quota/resource_quota.hpp"

#include <algorithm>
#include <optional>

#include "backplane/core/json_access.hpp"
#include "backplane/rest/store_hooks.hpp"
#include "quota/charged_write.hpp"
#include "quota/claim_owner.hpp"
#include "quota/device_classes.hpp"
#include "quota/evaluation.hpp"
#include "quota/limits_config.hpp"
#include "quota/quota_reader.hpp"

namespace backplane::admission {
namespace quota {
namespace {

constexpr std::chrono::seconds kTurnTimeout{10};

constexpr std::string_view kClaimGroup = "resource.k8s.io";
const GroupVersionKind& claim_kind() {
  static const GroupVersionKind kClaim{std::string(kClaimGroup), "v1", "ResourceClaim"};
  return kClaim;
}

Gates read_gates(const Services& services) {
  Gates out;
  out.pod_level_resources = services.gate("PodLevelResources");
  out.extended_resources_by_claim = services.gate("DRAExtendedResource");
  return out;
}

bool creates_namespace(const AdmissionAttributes& attributes) {
  return attributes.operation == AdmissionOperation::kCreate && attributes.kind.group.empty() && attributes.kind.kind == "Namespace";
}

// Evaluators read claims of v1.
bool needs_conversion(const Object* object) {
  if (object == nullptr) return false;
  const std::string_view version = get_string(*object, "apiVersion");
  return version.starts_with(kClaimGroup) && version != "resource.k8s.io/v1" && get_string(*object, "kind") == "ResourceClaim";
}

bool needs_preparation(const Object* object) {
  return object != nullptr && (needs_conversion(object) || (get_string(*object, "kind") == "ResourceClaim" && is_extended_claim(*object)));
}

std::vector<Quota> read_quotas(const std::vector<ObjectRef>& stored) {
  std::vector<Quota> out;
  out.reserve(stored.size());
  for (const ObjectRef& each : stored) out.push_back(read_quota(each));
  return out;
}

// The objects of a write in the version that evaluators read.
struct PreparedWrite {
  std::optional<Object> object, old_object;  // converted; empty: the write's own
  Subject subject, old_subject;
};

}  // namespace

class ResourceQuota final : public AdmissionPlugin {
 public:
  ResourceQuota(Services& services, LimitedResources limits)
      : host_(services.host()),
        limits_(std::move(limits)),
        gates_(read_gates(services)),
        classes_(FollowedDeviceClasses::make(services, gates_)),
        evaluators_(gates_, *classes_),
        reader_(std::make_shared<QuotaReader>(services)) {}

  std::string_view name() const noexcept override { return "ResourceQuota"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }
  bool mutates() const noexcept override { return false; }
  bool begins(AdmissionOperation operation) const noexcept override { return handles(operation) && reader_->any(); }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override;
  Task<Status> validate(const AdmissionAttributes& attributes) const override;
  Task<Result<std::unique_ptr<BegunWrite>>> begin(const AdmissionAttributes& attributes) const override;

 private:
  // Returns null if the write changes no usage.
  std::shared_ptr<const Evaluator> evaluator_of(const AdmissionAttributes& attributes) const;
  bool has_no_quotas(const AdmissionAttributes& attributes) const;
  Task<Result<Object>> converted(const Object& object) const;
  Task<Status> prepare(const AdmissionAttributes& attributes, PreparedWrite& out) const;
  Task<Status> prepare_one(const std::string& ns, const Object* given, std::optional<Object>& own, Subject& out) const;
  Result<std::vector<Charge>> evaluate(const AdmissionAttributes& attributes, const Evaluator& evaluator, const PreparedWrite& write,
                                       const std::vector<ObjectRef>& stored) const {
    return charges_of({attributes, evaluator, limits_, write.subject, write.old_subject}, read_quotas(stored));
  }

  Host& host_;
  const LimitedResources limits_;
  const Gates gates_;
  const std::shared_ptr<const DeviceClasses> classes_;
  const Evaluators evaluators_;
  const std::shared_ptr<QuotaReader> reader_;
};

// This check comes first, so that no evaluator is looked up if there are no quotas.
bool ResourceQuota::has_no_quotas(const AdmissionAttributes& attributes) const {
  if (attributes.ns.empty() || creates_namespace(attributes)) return true;
  if (!limits_.empty() || !reader_->has_synced()) return false;
  return reader_->cached(attributes.ns).empty();
}

std::shared_ptr<const Evaluator> ResourceQuota::evaluator_of(const AdmissionAttributes& attributes) const {
  const GroupResource resource{attributes.resource.group, attributes.resource.resource};
  if (!Evaluators::counts(resource)) return nullptr;
  auto evaluator = evaluators_.of(resource);
  return evaluator->handles(attributes) ? evaluator : nullptr;
}

std::optional<Status> ResourceQuota::validate_now(const AdmissionAttributes& attributes) const {
  if (has_no_quotas(attributes)) return Status();
  const auto evaluator = evaluator_of(attributes);
  if (evaluator == nullptr || attributes.object == nullptr) return Status();
  if (!reader_->has_synced() || needs_preparation(attributes.object) || needs_preparation(attributes.old_object)) return std::nullopt;
  PreparedWrite write;
  write.subject.object = attributes.object;
  write.old_subject.object = attributes.old_object;
  const auto charges = evaluate(attributes, *evaluator, write, reader_->cached(attributes.ns));
  if (charges.ok() && check_room(attributes, *charges).ok()) return Status();
  return std::nullopt;  // the store may have newer quotas
}

Task<Status> ResourceQuota::validate(const AdmissionAttributes& attributes) const {
  const auto evaluator = evaluator_of(attributes);
  if (evaluator == nullptr || attributes.object == nullptr) co_return Status();
  PreparedWrite write;
  auto preparing = prepare(attributes, write);
  Status prepared = co_await std::move(preparing);
  if (!prepared.ok()) co_return prepared;
  auto reading = reader_->newest(attributes.ns);
  auto quotas = co_await std::move(reading);
  if (!quotas.ok()) co_return internal_error("error resolving quota: " + quotas.status().message());
  auto charges = evaluate(attributes, *evaluator, write, *quotas);
  if (!charges.ok()) co_return std::move(charges.status());
  co_return check_room(attributes, *charges);
}

Task<Result<std::unique_ptr<BegunWrite>>> ResourceQuota::begin(const AdmissionAttributes& attributes) const {
  std::unique_ptr<BegunWrite> none;
  if (has_no_quotas(attributes)) co_return none;
  const auto evaluator = evaluator_of(attributes);
  if (evaluator == nullptr || attributes.object == nullptr) co_return none;
  PreparedWrite write;
  auto preparing = prepare(attributes, write);
  Status prepared = co_await std::move(preparing);
  if (!prepared.ok()) co_return prepared;
  // Only writes that a quota counts wait for their turn.
  const std::vector<ObjectRef> before = reader_->cached(attributes.ns);
  auto charges = evaluate(attributes, *evaluator, write, before);
  if (charges.ok() && charges->empty() && reader_->has_synced()) co_return none;
  auto waiting = reader_->take_turn(attributes.ns, kTurnTimeout);
  auto turn = co_await std::move(waiting);
  if (!turn) co_return internal_error("resource quota evaluation timed out");
  auto reading = reader_->known(attributes.ns);
  auto quotas = co_await std::move(reading);
  if (!quotas.ok()) co_return internal_error("error resolving quota: " + quotas.status().message());
  // During the wait any quota may have been created or changed, even one that did not count the write before.
  if (*quotas != before) charges = evaluate(attributes, *evaluator, write, *quotas);
  if (!charges.ok()) co_return std::move(charges.status());
  if (charges->empty()) co_return none;
  none = std::make_unique<ChargedWrite>(reader_, attributes, std::move(*charges), std::move(*turn));
  co_return none;
}

Task<Result<Object>> ResourceQuota::converted(const Object& object) const {
  Object copy(object);
  auto converting = host_.convert(claim_kind(), std::move(copy));
  co_return co_await std::move(converting);
}

Task<Status> ResourceQuota::prepare(const AdmissionAttributes& attributes, PreparedWrite& out) const {
  auto first = prepare_one(attributes.ns, attributes.object, out.object, out.subject);
  Status prepared = co_await std::move(first);
  if (!prepared.ok()) co_return prepared;
  auto second = prepare_one(attributes.ns, attributes.old_object, out.old_object, out.old_subject);
  co_return co_await std::move(second);
}

Task<Status> ResourceQuota::prepare_one(const std::string& ns, const Object* given, std::optional<Object>& own, Subject& out) const {
  out.object = given;
  if (!needs_preparation(given)) co_return Status();
  if (needs_conversion(given)) {
    auto converting = converted(*given);
    auto object = co_await std::move(converting);
    if (!object.ok()) co_return std::move(object.status());
    own.emplace(std::move(*object));
    out.object = &*own;
  }
  if (gates_.extended_resources_by_claim && is_extended_claim(*out.object)) {
    auto looking = owner_usage(host_, gates_, *out.object, ns);
    out.owner_usage = co_await std::move(looking);
  }
  co_return Status();
}

}  // namespace quota

Result<std::shared_ptr<AdmissionPlugin>> make_resource_quota(Services& services, const AdmissionPluginConfig& config) {
  auto limits = quota::parse_limits(config.configuration);
  if (!limits.ok()) return std::move(limits.status());
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<quota::ResourceQuota>(services, std::move(*limits)));
}

}  // namespace backplane::admission
