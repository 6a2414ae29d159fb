#include "admission/admission_chain.hpp"

#include <algorithm>

namespace backplane {
namespace {

constexpr std::chrono::milliseconds kLookAgain{100};

// Upstream's reinvoker: one more pass, over everybody who takes part in one.
class Reinvocation {
 public:
  explicit Reinvocation(AdmissionAttributes& attributes) : attributes_(attributes) { attributes_.reinvocation = &state_; }
  Reinvocation(const Reinvocation&) = delete;
  Reinvocation& operator=(const Reinvocation&) = delete;
  ~Reinvocation() { attributes_.reinvocation = nullptr; }
  bool wanted() const noexcept { return state_.requested() && !state_.again(); }
  void begin() noexcept { state_.begin_again(); }

 private:
  AdmissionAttributes& attributes_;
  AdmissionReinvocation state_;
};

}  // namespace

void AdmissionChain::add(std::shared_ptr<const AdmissionPlugin> plugin) {
  if (const auto* role = dynamic_cast<const ManagersLeftAlone*>(plugin.get())) roles_.push_back(role);
  plugins_.push_back(std::move(plugin));
}

bool AdmissionChain::leaves_managers_alone() const noexcept {
  return roles_.size() == plugins_.size() &&
         std::all_of(roles_.begin(), roles_.end(), [](const ManagersLeftAlone* role) { return role->leaves_managers_alone(); });
}

std::vector<std::string> AdmissionChain::names() const {
  std::vector<std::string> names;
  names.reserve(plugins_.size());
  for (const auto& plugin : plugins_) names.emplace_back(plugin->name());
  return names;
}

Task<Status> AdmissionChain::admit(AdmissionAttributes& attributes) {
  Reinvocation reinvocation(attributes);
  Status admitted = co_await pass(attributes);
  if (admitted.ok() && reinvocation.wanted()) {
    reinvocation.begin();
    admitted = co_await pass(attributes);
  }
  co_return admitted;
}

Task<Status> AdmissionChain::pass(AdmissionAttributes& attributes) {
  for (const auto& plugin : plugins_) {
    if (!plugin->handles(attributes.operation)) continue;
    if (attributes.reinvocation->again() && !plugin->reinvoked()) continue;
    Status admitted;
    if (!plugin->ready()) admitted = co_await wait_ready(*plugin, attributes);
    if (admitted.ok()) admitted = co_await plugin->admit(attributes);
    if (!admitted.ok()) co_return admitted;
  }
  co_return Status();
}

Task<Status> AdmissionChain::validate(const AdmissionAttributes& attributes) {
  for (const auto& plugin : plugins_) {
    if (!plugin->handles(attributes.operation)) continue;
    Status allowed;
    if (!plugin->ready()) allowed = co_await wait_ready(*plugin, attributes);
    if (allowed.ok()) allowed = co_await plugin->validate(attributes);
    if (!allowed.ok()) co_return allowed;
  }
  co_return Status();
}

Task<Status> AdmissionChain::wait_ready(const AdmissionPlugin& plugin, const AdmissionAttributes& attributes) const {
  const auto until = std::chrono::steady_clock::now() + patience_;
  while (!plugin.ready()) {
    if (std::chrono::steady_clock::now() >= until) co_return admission_forbidden(attributes, "not yet ready to handle request");
    co_await sleep_for(kLookAgain);
  }
  co_return Status();
}

}  // namespace backplane
