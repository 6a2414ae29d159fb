// Rules of APIService: kube-aggregator/pkg/apis/apiregistration/validation.
//
// Thread-safety: const; any thread.
#pragma once

#include <memory>

#include <backplane/rest/strategy.hpp>

namespace backplane {

// The strategy of the main resource: it drops changes of `status`.
std::shared_ptr<const Strategy> make_apiservice_strategy();
// The strategy of /status: only the status changes.
std::shared_ptr<const Strategy> make_apiservice_status_strategy();

}  // namespace backplane
