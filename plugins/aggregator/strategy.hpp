// Rules of APIService: kube-aggregator/pkg/apis/apiregistration/validation.
//
// Thread-safety: const; any thread.
#pragma once

#include <memory>

#include <backplane/rest/strategy.hpp>

namespace backplane {

// The kind itself; `status` updates through the main resource are dropped.
std::shared_ptr<const Strategy> make_apiservice_strategy();
// Updates through /status: only the status changes.
std::shared_ptr<const Strategy> make_apiservice_status_strategy();

}  // namespace backplane
