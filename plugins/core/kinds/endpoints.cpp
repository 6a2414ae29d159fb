// Endpoints and events.
#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/types/names.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {
namespace {

using namespace kit;
using namespace workload;

constexpr std::size_t kShownEndpoints = 3;

std::string host_and_port(std::string_view ip, std::int64_t port) {
  const bool six = ip.find(':') != std::string_view::npos;
  return (six ? "[" + std::string(ip) + "]" : std::string(ip)) + ":" + std::to_string(port);
}

// Appends each address of a subset once for each port, as "address:port".
void add_subset(const Object& subset, std::vector<std::string>& all) {
  const auto each_address = [&](const auto& shown) {
    each(subset, "addresses", [&](const Object& address, std::size_t) { all.push_back(shown(get_string(address, "ip"))); });
  };
  if (count_of(subset, "ports") == 0) each_address([](std::string_view ip) { return std::string(ip); });
  each(subset, "ports", [&](const Object& port, std::size_t) {
    each_address([number = get_int(port, "port").value_or(0)](std::string_view ip) { return host_and_port(ip, number); });
  });
}

// "10.1.2.3:80,10.1.2.4:80 + 2 more..."; empty if no address is ready.
void print_endpoints(const Object& object, std::int64_t, Array& cells) {
  std::vector<std::string> all;
  each(object, "subsets", [&](const Object& subset, std::size_t) { add_subset(subset, all); });
  const std::size_t count = all.size();
  all.resize(std::min(count, kShownEndpoints));
  std::string text = count_of(object, "subsets") == 0 ? "<none>" : joined(all);
  if (count > kShownEndpoints) text += " + " + std::to_string(count - kShownEndpoints) + " more...";
  cells.emplace_back(text);
}

Value show_count(const Value* found, std::int64_t) { return found != nullptr && found->is_int64() ? *found : Value(1); }

Value show_trimmed(const Value* found, std::int64_t) {
  constexpr std::string_view kBlanks = " \n\t\r\v\f";
  std::string_view text = found != nullptr ? text_of(*found) : std::string_view();
  text = text.substr(0, text.find_last_not_of(kBlanks) + 1);
  return Value(text.substr(std::min(text.find_first_not_of(kBlanks), text.size())));
}

class EventStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  // Names the member as the request's API group does. Only the reporter has different names in the two groups.
  void check_request(const RequestContext& context, const Object& object, FieldErrors& errors) const override {
    if (get_string(object, "eventTime").empty()) return;
    const char* blamed = context.info.api_group == "events.k8s.io" ? "reportingController" : "reportingComponent";
    const std::string_view reporter = get_string(object, "reportingComponent");
    if (reporter.empty()) errors.required(blamed);
    add_problems(is_qualified_name(reporter), blamed, reporter, errors);
  }
};

}  // namespace

void add_endpoints_and_events(GroupCode& code, std::chrono::seconds event_ttl) {
  code.kinds["Event"] = {.make = made<EventStrategy>(), .time_to_live = event_ttl};
  code.printers.insert({{"endpoints", print_endpoints}, {"eventCount", show_count}, {"trimmed", show_trimmed}});
}

}  // namespace backplane::core
