// Endpoints and events.
#include <algorithm>

#include "backplane/kit/addresses.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/names.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "backplane/workload/warnings.hpp"
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

class EndpointsStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  std::vector<std::string> warnings(const Object& object, const Object*) const override {
    Warnings out;
    // The controller of endpoints has mended its addresses already.
    const Object& labels = object_or_empty(object_or_empty(object, "metadata"), "labels");
    if (get_string(labels, "endpoints.kubernetes.io/managed-by") == "endpoint-controller") return out;
    each_address(object, [&](std::string_view ip, const std::string& path) {
      for (std::string& text : ip_warnings(path, ip)) out.push_back(std::move(text));
    });
    return out;
  }

 protected:
  // Addresses that never leave a host are checked apart, and a text that is no address fails there once more.
  void check(const Object& object, FieldErrors& errors) const override {
    each_address(object, [&](std::string_view ip, const std::string& path) {
      if (!is_valid_ip(ip).empty()) errors.invalid(path, ip, "must be a valid IP address");
    });
  }

 private:
  template <class Visit>
  static void each_address(const Object& object, Visit visit) {
    each(object, "subsets", [&](const Object& subset, std::size_t i) {
      for (std::string_view list : {"addresses", "notReadyAddresses"}) {
        each(subset, list,
             [&](const Object& address, std::size_t k) { visit(get_string(address, "ip"), at(at(at(at("subsets", i), list), k), "ip")); });
      }
    });
  }
};

std::string_view first_text(const Object& object, std::initializer_list<std::string_view> paths) {
  for (std::string_view path : paths) {
    if (const std::string_view text = get_string_path(object, path); !text.empty()) return text;
  }
  return {};
}

std::string print_source(const Object& event) {
  std::string_view component = get_string_path(event, "source.component"), host = get_string_path(event, "source.host");
  if (component.empty()) component = get_string(event, "reportingComponent");
  if (host.empty()) host = get_string(event, "reportingInstance");
  return host.empty() ? std::string(component) : std::string(component) + ", " + std::string(host);
}

void print_event(const Object& event, std::int64_t now, Array& cells) {
  const Object& about = object_or_empty(event, "involvedObject");
  const std::string_view first = first_text(event, {"firstTimestamp", "eventTime"});
  const std::string_view last = first_text(event, {"series.lastObservedTime", "lastTimestamp", "eventTime"});
  std::string target = lower_case(get_string(about, "kind"));
  if (!get_string(about, "name").empty()) target += "/" + std::string(get_string(about, "name"));
  const std::int64_t own = get_int(event, "count").value_or(0);
  const std::int64_t count = get_int_path(event, "series.count").value_or(own == 0 ? 1 : own);
  std::string message(get_string(event, "message"));
  message.resize(message.find_last_not_of(" \n\t") + 1);
  cells.emplace_back(human_age(last, now));
  for (const char* member : {"type", "reason"}) cells.emplace_back(get_string(event, member));
  cells.emplace_back(target);
  cells.emplace_back(get_string(about, "fieldPath"));
  cells.emplace_back(print_source(event));
  cells.emplace_back(message);
  cells.emplace_back(human_age(first, now));
  cells.emplace_back(count);
  cells.emplace_back(meta_name(event));
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
  code.kinds["Endpoints"] = {.make = made<EndpointsStrategy>()};
  code.kinds["Event"] = {.make = made<EventStrategy>(), .time_to_live = event_ttl};
  code.printers.insert({{"endpoints", print_endpoints}, {"event", print_event}});
}

}  // namespace backplane::core
