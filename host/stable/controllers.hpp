// The informers and controllers of one plugin of the stable tier.
//
// Thread-safety: informer() and add() during provision(); the host's hooks call the other methods.
// Lifetime:      that of the plugin's context.
// Errors:        a failed reconcile puts its key into the queue again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/core/work_queue.hpp"
#include "backplane/net/informer.hpp"
#include "backplane/points/hooks.hpp"
#include "backplane/stable/controller.h"
#include "stable/conversions.hpp"

struct bp_informer {
  std::shared_ptr<backplane::SharedInformer> informer;
};
struct bp_queue {
  std::shared_ptr<backplane::WorkQueue> keys;
};

namespace backplane::stable {

class Controllers {
 public:
  // Also registers the post-start hook that starts the informers and the controllers.
  static Result<std::unique_ptr<Controllers>> make(bp_context& context);
  bp_informer* informer(const GroupVersionResource& resource, const std::string& ns);
  Status add(const bp_controller& table);

 private:
  struct Controller {
    std::string name;
    bp_controller table;
    bp_queue queue;
  };
  explicit Controllers(Host& host) : host_(host), informers_(host) {}
  Task<Status> start(PostStartHookContext context);
  Task<void> run();
  static void watch(const bp_watch& watch, const std::shared_ptr<Controller>& controller);
  static Task<Status> reconcile(std::shared_ptr<Controller> controller, Executor& thread, std::string key);

  Host& host_;
  SharedInformerFactory informers_;
  std::vector<std::unique_ptr<bp_informer>> given_;
  std::vector<std::shared_ptr<Controller>> controllers_;
};

}  // namespace backplane::stable
