#include "podsecurity/pod_security.hpp"

#include <algorithm>
#include <chrono>

#include "backplane/rest/roles.hpp"
#include "objects/cached_objects.hpp"
#include "podsecurity/counters.hpp"
#include "podsecurity/existing_pods.hpp"
#include "podsecurity/review.hpp"

namespace backplane::admission::podsecurity {
namespace {

constexpr std::chrono::seconds kPodCheckTimeout{1};

bool is_namespace(const GroupVersionResource& resource) { return resource.group.empty() && resource.resource == "namespaces"; }

// At most a second, and at most half of the time that the request has left.
PodCheckLimits pod_check_limits(const RequestContext* context) {
  using Clock = std::chrono::steady_clock;
  const auto now = Clock::now();
  PodCheckLimits limits;
  limits.deadline = now + kPodCheckTimeout;
  if (context != nullptr && context->deadline != Clock::time_point::max()) {
    limits.deadline = std::min(limits.deadline, now + (context->deadline - now) / 2);
  }
  return limits;
}

class PodSecurity final : public AdmissionPlugin {
 public:
  PodSecurity(Services& services, Configuration configuration)
      : host_(services.host()), configuration_(std::move(configuration)), namespaces_(services.lister({"", "v1", "namespaces"})) {}

  std::string_view name() const noexcept override { return "PodSecurity"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }
  bool mutates() const noexcept override { return false; }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (is_namespace(attributes.resource)) {
      NamespaceReview decision = review_namespace(configuration_, attributes);
      if (decision.checks_pods) return std::nullopt;
      return publish(std::move(decision.review), attributes);
    }
    if (!template_path(attributes.resource)) return Status();
    if (auto exempt = review_exemptions(configuration_, attributes)) return publish(std::move(*exempt), attributes);
    const ObjectRef ns = namespaces_.find("", attributes.ns);
    if (ns == nullptr) return std::nullopt;
    return publish(review_pod(configuration_, attributes, ns->labels().copy()), attributes);
  }

  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    if (is_namespace(attributes.resource)) co_return co_await validate_with_pods(attributes);
    auto reading = read_namespace(attributes.ns);
    auto ns = co_await std::move(reading);
    if (!ns.ok()) co_return publish(review_failed_lookup(attributes, ns.status()), attributes);
    co_return publish(review_pod(configuration_, attributes, (*ns)->labels().copy()), attributes);
  }

 private:
  Task<Status> validate_with_pods(const AdmissionAttributes& attributes) const {
    NamespaceReview decision = review_namespace(configuration_, attributes);
    if (decision.checks_pods) {
      auto checking = warnings_of_pods(attributes, *decision.checks_pods);
      decision.review.warnings = co_await std::move(checking);
    }
    co_return publish(std::move(decision.review), attributes);
  }

  // Pods are listed on demand instead of being cached by an informer, because they are created much more often than levels change.
  Task<std::vector<std::string>> warnings_of_pods(const AdmissionAttributes& attributes, const LevelVersion& enforce) const {
    const PodCheckLimits limits = pod_check_limits(attributes.context);
    const std::string ns(meta_name(*attributes.object));
    auto listing = objects::list_live(host_, {"", "v1", "pods"}, ns);
    const auto pods = co_await std::move(listing);
    std::vector<std::string> warnings;
    if (!pods.ok()) {
      warnings.emplace_back("failed to list pods while checking new PodSecurity enforce level");
      co_return warnings;
    }
    auto checking = run_blocking([&] { warnings = existing_pod_warnings(configuration_, ns, enforce, *pods, limits); });
    co_await std::move(checking);
    co_return warnings;
  }

  // Reads the namespace from the store: the cache does not have it, so it may be new.
  Task<Result<ObjectRef>> read_namespace(std::string name) const {
    const std::shared_ptr<RestStorage> storage = host_.find_storage({"", "v1", "namespaces"});
    Getter* const getter = role_of<Getter>(storage);
    if (getter == nullptr) co_return not_found("", "namespaces", name);
    RequestContext context;  // a separate context, because the plugin reads on its own behalf
    GetOptions newest;
    auto reading = getter->get(context, std::move(name), std::move(newest));
    co_return co_await std::move(reading);
  }

  Host& host_;
  const Configuration configuration_;
  const Lister namespaces_;
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_pod_security(Services& services, const AdmissionPluginConfig& config) {
  auto configuration = parse_configuration(config.configuration);
  if (!configuration.ok()) return std::move(configuration.status());
  create_counters();
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<PodSecurity>(services, std::move(*configuration)));
}

}  // namespace backplane::admission::podsecurity
