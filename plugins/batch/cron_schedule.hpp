// Schedules of cron jobs: five fields, or a word that stands for them.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace backplane::batch {

// What is wrong with a schedule, in the words that kube-apiserver has for it; empty: nothing.
std::string schedule_problem(std::string_view schedule);

}  // namespace backplane::batch
