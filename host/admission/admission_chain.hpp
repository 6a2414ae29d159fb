// Mutate, then validate: runs the admission plugins in order.
//
// Thread-safety: plugins are added during start-up only; running is const.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/rest.hpp"

namespace backplane {

class AdmissionChain final : public AdmissionRunner {
 public:
  void add(std::shared_ptr<const AdmissionPlugin> plugin) { plugins_.push_back(std::move(plugin)); }
  std::vector<std::string> names() const;
  Task<Status> admit(AdmissionAttributes& attributes) override;
  Task<Status> validate(const AdmissionAttributes& attributes) override;

 private:
  std::vector<std::shared_ptr<const AdmissionPlugin>> plugins_;
};

}  // namespace backplane
