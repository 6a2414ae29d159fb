#include "admission/admission_chain.hpp"

namespace backplane {

std::vector<std::string> AdmissionChain::names() const {
  std::vector<std::string> names;
  names.reserve(plugins_.size());
  for (const auto& plugin : plugins_) names.emplace_back(plugin->name());
  return names;
}

Task<Status> AdmissionChain::admit(AdmissionAttributes& attributes) {
  for (const auto& plugin : plugins_) {
    if (!plugin->handles(attributes.operation)) continue;
    Status admitted = co_await plugin->admit(attributes);
    if (!admitted.ok()) co_return admitted;
  }
  co_return Status();
}

Task<Status> AdmissionChain::validate(const AdmissionAttributes& attributes) {
  for (const auto& plugin : plugins_) {
    if (!plugin->handles(attributes.operation)) continue;
    Status allowed = co_await plugin->validate(attributes);
    if (!allowed.ok()) co_return allowed;
  }
  co_return Status();
}

}  // namespace backplane
