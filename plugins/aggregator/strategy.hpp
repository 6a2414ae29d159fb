// Rules of APIService: kube-aggregator/pkg/apis/apiregistration/validation.
//
// Thread-safety: const; any thread.
#pragma once

#include <memory>

#include <backplane/rest/strategy.hpp>

namespace backplane {

// For the main resource, through which changes of `status` are dropped.
std::shared_ptr<const Strategy> make_apiservice_strategy();
// For /status: only the status changes.
std::shared_ptr<const Strategy> make_apiservice_status_strategy();

}  // namespace backplane
