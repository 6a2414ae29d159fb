// Schedules of cron jobs: five fields, or a descriptor such as @daily.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace backplane::batch {

// The error of a schedule, with kube-apiserver's text; empty: valid.
std::string schedule_problem(std::string_view schedule);

}  // namespace backplane::batch
