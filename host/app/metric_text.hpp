// Prometheus' text format, version 0.0.4, with numbers as Go prints them ("1e+06").
//
// Thread-safety: pure.
// Errors:        none.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace backplane {

// In pieces of some 64 KiB.
std::vector<std::string> metrics_as_text(const std::vector<prometheus::MetricFamily>& families);
// As strconv.FormatFloat(number, 'g', -1, 64) prints it.
void append_go_number(std::string& out, double number);

}  // namespace backplane
