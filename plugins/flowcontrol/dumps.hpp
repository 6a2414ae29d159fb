// /debug/api_priority_and_fairness/: the levels, queues and requests as tables of text, for the diagnosis of a busy server.
//
// Thread-safety: any number of requests at once.
// Lifetime:      the handlers share ownership of the gate.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/points/paths.hpp"
#include "gate.hpp"

namespace backplane::flowcontrol {

std::vector<PathRoute> dump_routes(std::shared_ptr<const Gate> gate);

std::string dump_levels(const std::vector<LevelState>& levels);
std::string dump_queues(const std::vector<LevelState>& levels);
// `details`: adds the columns of RequestDetails (user, verb, path and so on).
std::string dump_requests(const std::vector<LevelState>& levels, const std::vector<Gate::RunningRequest>& running, bool details);

}  // namespace backplane::flowcontrol
