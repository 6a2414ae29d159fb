#include "pods/default_toleration_seconds.hpp"

#include <charconv>

#include "backplane/core/json_access.hpp"
#include "objects/request_match.hpp"
#include "pods/tolerations.hpp"

namespace backplane::admission::pods {
namespace {

constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";
constexpr std::string_view kUnreachable = "node.kubernetes.io/unreachable";
constexpr std::string_view kNoExecute = "NoExecute";
constexpr std::int64_t kDefaultSeconds = 300;

std::int64_t seconds_of_flag(const Host& host, std::string_view name) {
  const std::string text = host.flag(name).value_or("");
  std::int64_t seconds = kDefaultSeconds;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return seconds;
}

bool tolerates(const Object& spec, std::string_view taint) {
  bool found = false;
  each(spec, "tolerations", [&](const Object& toleration, std::size_t) {
    const std::string_view key = get_string(toleration, "key"), effect = get_string(toleration, "effect");
    found = found || ((key.empty() || key == taint) && (effect.empty() || effect == kNoExecute));
  });
  return found;
}

class DefaultTolerationSeconds final : public AdmissionPlugin {
 public:
  DefaultTolerationSeconds(std::int64_t not_ready, std::int64_t unreachable)
      : not_ready_(toleration_of(kNotReady, kNoExecute, not_ready)), unreachable_(toleration_of(kUnreachable, kNoExecute, unreachable)) {}

  std::string_view name() const noexcept override { return "DefaultTolerationSeconds"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }
  bool validates() const noexcept override { return false; }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    if (!objects::is_main_write(attributes, "", "pods")) return Status();
    Object& spec = ensure_object(*attributes.object, "spec");
    const bool not_ready = tolerates(spec, kNotReady), unreachable = tolerates(spec, kUnreachable);
    if (!not_ready) ensure_array(spec, "tolerations").emplace_back(not_ready_);
    if (!unreachable) ensure_array(spec, "tolerations").emplace_back(unreachable_);
    return Status();
  }

 private:
  const Object not_ready_;
  const Object unreachable_;
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_default_toleration_seconds(Services& services, const AdmissionPluginConfig&) {
  const Host& host = services.host();
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<DefaultTolerationSeconds>(
      seconds_of_flag(host, "default-not-ready-toleration-seconds"), seconds_of_flag(host, "default-unreachable-toleration-seconds")));
}

}  // namespace backplane::admission::pods
