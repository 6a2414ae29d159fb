// Endpoints and events.
#include <algorithm>

#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/names.hpp"
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

// "10.1.2.3:80,10.1.2.4:80 + 2 more..."
void print_endpoints(const Object& object, std::int64_t, Array& cells) {
  std::vector<std::string> all;
  each(object, "subsets", [&](const Object& subset, std::size_t) {
    each(subset, "addresses", [&](const Object& address, std::size_t) {
      const std::string_view ip = get_string(address, "ip");
      if (count_of(subset, "ports") == 0) all.emplace_back(ip);
      each(subset, "ports", [&](const Object& port, std::size_t) { all.push_back(host_and_port(ip, get_int(port, "port").value_or(0))); });
    });
  });
  const std::size_t count = all.size();
  all.resize(std::min(count, kShownEndpoints));
  std::string text = count == 0 ? "<none>" : joined(all);
  if (count > kShownEndpoints) text += " + " + std::to_string(count - kShownEndpoints) + " more...";
  cells.emplace_back(text);
}

void print_target(const Object& event, std::int64_t, Array& cells) {
  const Object& about = object_or_empty(event, "involvedObject");
  std::string target = lower_case(get_string(about, "kind"));
  if (!get_string(about, "name").empty()) target += "/" + std::string(get_string(about, "name"));
  cells.emplace_back(target);
}

void print_source(const Object& event, std::int64_t, Array& cells) {
  std::string_view component = get_string_path(event, "source.component"), host = get_string_path(event, "source.host");
  if (component.empty()) component = get_string(event, "reportingComponent");
  if (host.empty()) host = get_string(event, "reportingInstance");
  cells.emplace_back(host.empty() ? std::string(component) : std::string(component) + ", " + std::string(host));
}

Value show_count(const Value* found, std::int64_t) { return found != nullptr && found->is_int64() ? *found : Value(1); }

Value show_trimmed(const Value* found, std::int64_t) {
  const std::string_view text = found != nullptr ? text_of(*found) : std::string_view();
  return Value(text.substr(0, text.find_last_not_of(" \n\t") + 1));
}

class EventStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check_request(const RequestContext& context, const Object& object, FieldErrors& errors) const override {
    const std::string_view ns = meta_namespace(object), about = get_string_path(object, "involvedObject.namespace");
    // Events about cluster-scoped objects live in "default".
    bool same = about == ns || (about.empty() && ns == "default");
    if (get_string(object, "eventTime").empty()) {
      if (!same) errors.invalid("involvedObject.namespace", about, "does not match event.namespace");
      return;
    }
    // Only events of the newer form have that time, and with it what that form asks for.
    same = !about.empty() || ns == "default" || ns == "kube-system";
    if (!same) errors.invalid("involvedObject.namespace", about, "does not match event.namespace");
    const bool newer = context.info.api_group == "events.k8s.io";
    const char* blamed = newer ? "reportingController" : "reportingComponent";
    const std::string_view reporter = get_string(object, "reportingComponent");
    if (reporter.empty()) errors.required(blamed);
    add_problems(is_qualified_name(reporter), blamed, reporter, errors);
    for (const char* member : {"reportingInstance", "action", "reason"}) {
      if (get_string(object, member).empty()) errors.required(member);
      check_length(object, member, kMaxWordBytes, errors);
    }
    check_length(object, "message", kMaxMessageBytes, errors);
  }

 private:
  static constexpr std::size_t kMaxWordBytes = 128;
  static constexpr std::size_t kMaxMessageBytes = 1024;

  static void check_length(const Object& object, const char* member, std::size_t most, FieldErrors& errors) {
    if (get_string(object, member).size() > most) errors.invalid(member, "", "can have at most " + std::to_string(most) + " characters");
  }
};

}  // namespace

void add_endpoints_and_events(GroupCode& code, std::chrono::seconds event_ttl) {
  code.kinds["Event"] = {.make = made<EventStrategy>(), .time_to_live = event_ttl};
  code.printers.insert({{"endpoints", print_endpoints},
                        {"eventTarget", print_target},
                        {"eventSource", print_source},
                        {"eventCount", show_count},
                        {"trimmed", show_trimmed}});
}

}  // namespace backplane::core
