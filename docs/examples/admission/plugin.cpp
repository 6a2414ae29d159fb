#include <backplane/plugin.hpp>

#include "rules.hpp"

class AdmissionRules final : public Plugin {
  Status provision(Host& host) override {
    informers_ = std::make_unique<SharedInformerFactory>(host);
    for (auto make : {+[](SharedInformerFactory&) { return default_team(); }, +[](SharedInformerFactory& all) { return known_team(all); },
                      +[](SharedInformerFactory&) { return short_values(); }}) {
      Status status = host.register_admission(make(*informers_));
      if (!status.ok()) return status;
    }
    return host.add_post_start_hook("admission-rules/informers", [this](PostStartHookContext) { return start(); });
  }

  Task<Status> start() {
    informers_->start();
    co_return Status();
  }

  std::unique_ptr<SharedInformerFactory> informers_;
};
BACKPLANE_PLUGIN(AdmissionRules)
