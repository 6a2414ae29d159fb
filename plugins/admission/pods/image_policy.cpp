#include "pods/image_policy.hpp"

#include <mutex>

#include "backplane/kit/review_webhook.hpp"
#include "common/deadline.hpp"
#include "objects/lru_cache.hpp"
#include "objects/request_match.hpp"
#include "pods/image_policy_config.hpp"
#include "pods/image_review.hpp"

namespace backplane::admission::pods {
namespace {

using ReviewTime = std::chrono::steady_clock::time_point;

constexpr std::size_t kMostReviews = 1024;
constexpr std::string_view kAuditPrefix = "imagepolicywebhook.image-policy.k8s.io/";
constexpr std::chrono::seconds kReviewTimeout{60};  // for a request without a deadline

// Responses of the webhook by the spec of the review.
class ReviewCache {
 public:
  std::optional<ImageReviewStatus> find(const std::string& spec) {
    const std::lock_guard lock(mutex_);
    const Entry* entry = entries_.find(spec);
    if (entry == nullptr || entry->expires <= std::chrono::steady_clock::now()) return std::nullopt;
    return entry->status;
  }
  void put(const std::string& spec, const ImageReviewStatus& status, std::chrono::nanoseconds life) {
    if (life.count() <= 0) return;
    const std::lock_guard lock(mutex_);
    entries_.put(spec, {std::chrono::steady_clock::now() + life, status});
  }

 private:
  struct Entry {
    ReviewTime expires;
    ImageReviewStatus status;
  };
  std::mutex mutex_;
  objects::LruCache<Entry> entries_{kMostReviews};
};

class ImagePolicyWebhook final : public AdmissionPlugin {
 public:
  ImagePolicyWebhook(Logger& logger, std::shared_ptr<kit::ReviewWebhook> webhook, ImagePolicyConfig config)
      : logger_(logger), webhook_(std::move(webhook)), config_(std::move(config)) {}

  std::string_view name() const noexcept override { return "ImagePolicyWebhook"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }
  bool mutates() const noexcept override { return false; }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    const bool reviewed = attributes.subresource.empty() || attributes.subresource == "ephemeralcontainers";
    if (!reviewed || !objects::is_of_resource(attributes, "", "pods") || attributes.object == nullptr) return Status();
    if (const auto known = cache_.find(image_review_spec(attributes))) return decide(attributes, *known);
    return std::nullopt;
  }

  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    const std::string spec = image_review_spec(attributes);
    auto posting = webhook_->post(image_review(spec), read_image_review, deadline_of(attributes), kit::ReviewObserver());
    auto review = co_await std::move(posting);
    if (!review.ok()) co_return failed(attributes, review.status());
    const ImageReviewStatus status = image_review_status(*review);
    cache_.put(spec, status, status.allowed ? config_.allow_ttl : config_.deny_ttl);
    co_return decide(attributes, status);
  }

 private:
  static ReviewTime deadline_of(const AdmissionAttributes& attributes) {
    const ReviewTime latest = std::chrono::steady_clock::now() + kReviewTimeout;
    return attributes.context != nullptr ? std::min(attributes.context->deadline, latest) : latest;
  }

  // Upstream also marks the pod with an annotation here, but in a copy that is not stored.
  Status failed(const AdmissionAttributes& attributes, const Status& why) const {
    if (config_.default_allow) {
      (void)attributes.annotate(std::string(kAuditPrefix) + "failed-open", "true");
      return unless_late(attributes, {});
    }
    return why.reason() == Reason::kForbidden ? why : admission_forbidden(attributes, why.message());
  }

  Status decide(const AdmissionAttributes& attributes, const ImageReviewStatus& review) const {
    for (const auto& [key, value] : review.audit_annotations) {
      const Status added = attributes.annotate(std::string(kAuditPrefix) + key, value);
      if (!added.ok()) logger_.warn("failed to set the audit annotation " + key + " of ImagePolicyWebhook: " + added.message());
    }
    if (review.allowed) return {};
    if (review.reason.empty()) return admission_forbidden(attributes, "one or more images rejected by webhook backend");
    return admission_forbidden(attributes, "image policy webhook backend denied one or more images: " + review.reason);
  }

  Logger& logger_;
  const std::shared_ptr<kit::ReviewWebhook> webhook_;
  const ImagePolicyConfig config_;
  mutable ReviewCache cache_;
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_image_policy(Services& services, const AdmissionPluginConfig& config) {
  auto policy = parse_image_policy_config(config.configuration);
  if (!policy.ok()) return std::move(policy).status();
  auto server = kit::read_kubeconfig(policy->kubeconfig);
  if (!server.ok()) return std::move(server).status();
  kit::ReviewWebhookOptions options;
  options.retries.first_pause = std::chrono::ceil<std::chrono::milliseconds>(policy->retry_backoff);
  auto webhook = kit::ReviewWebhook::make(services.host(), std::move(*server), options);
  if (!webhook.ok()) return std::move(webhook).status();
  return std::shared_ptr<AdmissionPlugin>(
      std::make_shared<ImagePolicyWebhook>(services.host().logger(), std::move(*webhook), std::move(*policy)));
}

}  // namespace backplane::admission::pods
