#include "objects/event_rate_limit.hpp"

#include "common/aggregate.hpp"
#include "objects/event_limits.hpp"
#include "objects/request_match.hpp"

namespace backplane::admission::objects {
namespace {

class EventRateLimit final : public AdmissionPlugin {
 public:
  explicit EventRateLimit(const std::vector<EventLimitConfig>& limits) {
    for (const EventLimitConfig& each : limits) {
      limits_.push_back(std::make_unique<EventLimit>(each, [] { return std::chrono::steady_clock::now(); }));
    }
  }

  std::string_view name() const noexcept override { return "EventRateLimit"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }
  bool mutates() const noexcept override { return false; }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (!is_of_kind(attributes, "", "Event") || attributes.dry_run) return Status();
    std::vector<std::string> reached;
    // Each limit counts the event, whether or not another one refuses it.
    for (const auto& limit : limits_) {
      if (auto why = limit->accept(attributes)) reached.push_back(std::move(*why));
    }
    if (reached.empty()) return Status();
    return Status(Reason::kTooManyRequests, "Too many requests: " + aggregate_text(reached));
  }

 private:
  std::vector<std::unique_ptr<EventLimit>> limits_;
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_event_rate_limit(Services&, const AdmissionPluginConfig& config) {
  auto limits = parse_event_limits(config.configuration);
  if (!limits.ok()) return std::move(limits).status();
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<EventRateLimit>(*limits));
}

}  // namespace backplane::admission::objects
