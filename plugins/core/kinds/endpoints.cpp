// Endpoints and events.
#include <algorithm>
#include <ctime>

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

std::size_t items(const Object& parent, std::string_view key) {
  const Array* list = get_array(parent, key);
  return list ? list->size() : 0;
}

std::string host_and_port(std::string_view ip, std::int64_t port) {
  const bool six = ip.find(':') != std::string_view::npos;
  return (six ? "[" + std::string(ip) + "]" : std::string(ip)) + ":" + std::to_string(port);
}

// "10.1.2.3:80,10.1.2.4:80 + 2 more..."
std::string print_endpoints(const Object& object) {
  std::vector<std::string> shown;
  std::size_t count = 0;
  each(object, "subsets", [&](const Object& subset, std::size_t) {
    each(subset, "addresses", [&](const Object& address, std::size_t) {
      if (items(subset, "ports") == 0) {
        if (++count <= kShownEndpoints) shown.emplace_back(get_string(address, "ip"));
        return;
      }
      each(subset, "ports", [&](const Object& port, std::size_t) {
        if (++count <= kShownEndpoints) shown.push_back(host_and_port(get_string(address, "ip"), get_int(port, "port").value_or(0)));
      });
    });
  });
  if (count == 0) return "<none>";
  std::string out = joined(shown);
  if (count > kShownEndpoints) out += " + " + std::to_string(count - kShownEndpoints) + " more...";
  return out;
}

void print_endpoints_cell(const Object& object, std::int64_t, Array& cells) { cells.emplace_back(print_endpoints(object)); }

class EndpointsStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  std::vector<std::string> warnings(const Object& object, const Object*) const override {
    Warnings out;
    // The controller of endpoints has mended its addresses already.
    const Object& labels = object_or_empty(object_or_empty(object, "metadata"), "labels");
    if (get_string(labels, "endpoints.kubernetes.io/managed-by") == "endpoint-controller") return out;
    each(object, "subsets", [&](const Object& subset, std::size_t i) {
      for (std::string_view list : {"addresses", "notReadyAddresses"}) {
        each(subset, list, [&](const Object& address, std::size_t k) {
          const std::string path = at(at(at(at("subsets", i), list), k), "ip");
          for (std::string& text : ip_warnings(path, get_string(address, "ip"))) out.push_back(std::move(text));
        });
      }
    });
    return out;
  }

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    each(object, "subsets", [&](const Object& subset, std::size_t i) { check_subset(subset, at("subsets", i), errors); });
  }

 private:
  static void check_subset(const Object& subset, const std::string& path, FieldErrors& errors) {
    if (items(subset, "addresses") == 0 && items(subset, "notReadyAddresses") == 0) {
      errors.required(path, "must specify `addresses` or `notReadyAddresses`");
    }
    // Addresses that never leave a host are checked apart, and a text that is no address fails there once more.
    for (std::string_view list : {"addresses", "notReadyAddresses"}) {
      each(subset, list, [&](const Object& address, std::size_t i) {
        const std::string_view ip = get_string(address, "ip");
        if (!is_valid_ip(ip).empty()) errors.invalid(at(at(at(path, list), i), "ip"), ip, "must be a valid IP address");
      });
    }
    if (items(subset, "ports") < 2) return;
    each(subset, "ports", [&](const Object& port, std::size_t i) {
      if (get_string(port, "name").empty()) errors.required(at(at(at(path, "ports"), i), "name"));
    });
  }
};

std::string_view first_text(const Object& object, std::initializer_list<std::string_view> paths) {
  for (std::string_view path : paths) {
    if (const std::string_view text = get_string_path(object, path); !text.empty()) return text;
  }
  return {};
}

std::string age_or_unknown(std::string_view time, std::int64_t now) { return time.empty() ? "<unknown>" : human_age(time, now); }

std::string print_source(const Object& event) {
  std::string_view component = get_string_path(event, "source.component"), host = get_string_path(event, "source.host");
  if (component.empty()) component = get_string(event, "reportingComponent");
  if (host.empty()) host = get_string(event, "reportingInstance");
  return host.empty() ? std::string(component) : std::string(component) + ", " + std::string(host);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  return out;
}

void print_event(const Object& event, std::int64_t now, Array& cells) {
  const Object& about = object_or_empty(event, "involvedObject");
  const std::string_view first = first_text(event, {"firstTimestamp", "eventTime"});
  const std::string_view last = first_text(event, {"series.lastObservedTime", "lastTimestamp", "eventTime"});
  std::string target = lower(get_string(about, "kind"));
  if (!get_string(about, "name").empty()) target += "/" + std::string(get_string(about, "name"));
  std::int64_t count = get_int(event, "count").value_or(0);
  if (const auto series = get_int_path(event, "series.count"))
    count = *series;
  else if (count == 0)
    count = 1;
  cells.emplace_back(age_or_unknown(last, now));
  cells.emplace_back(get_string(event, "type"));
  cells.emplace_back(get_string(event, "reason"));
  cells.emplace_back(target);
  cells.emplace_back(get_string(about, "fieldPath"));
  cells.emplace_back(print_source(event));
  std::string message(get_string(event, "message"));
  while (!message.empty() && (message.back() == ' ' || message.back() == '\n' || message.back() == '\t')) message.pop_back();
  cells.emplace_back(message);
  cells.emplace_back(age_or_unknown(first, now));
  cells.emplace_back(count);
  cells.emplace_back(meta_name(event));
}

std::vector<SelectableField> event_fields() {
  std::vector<SelectableField> out;
  for (const char* member : {"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"}) {
    const std::string path = std::string("involvedObject.") + member;
    out.push_back({path, path, ""});
  }
  for (const auto& [label, path] : {std::pair("reason", "reason"), std::pair("reportingComponent", "reportingComponent"),
                                    std::pair("source", "source.component"), std::pair("type", "type")}) {
    out.push_back({label, path, ""});
  }
  return out;
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
    check_reporter(object, newer ? "reportingController" : "reportingComponent", errors);
    for (const char* member : {"reportingInstance", "action", "reason"}) check_word(object, member, errors);
    if (get_string(object, "message").size() > kMaxMessageBytes) {
      errors.invalid("message", "", "can have at most " + std::to_string(kMaxMessageBytes) + " characters");
    }
  }

 private:
  static constexpr std::size_t kMaxWordBytes = 128;
  static constexpr std::size_t kMaxMessageBytes = 1024;

  static void check_reporter(const Object& object, const std::string& blamed, FieldErrors& errors) {
    const std::string_view reporter = get_string(object, "reportingComponent");
    if (reporter.empty()) errors.required(blamed);
    for (const std::string& problem : is_qualified_name(reporter)) errors.invalid(blamed, reporter, problem);
  }
  static void check_word(const Object& object, const char* member, FieldErrors& errors) {
    const std::string_view word = get_string(object, member);
    if (word.empty()) errors.required(member);
    if (word.size() > kMaxWordBytes) errors.invalid(member, "", "can have at most " + std::to_string(kMaxWordBytes) + " characters");
  }
};

}  // namespace

KindRow endpoints_row() {
  return {.resource = "endpoints",
          .kind = "Endpoints",
          .short_names = {"ep"},
          .facts = {.create_on_update = true,
                    .columns = {name_column(), computed_column("Endpoints", "Addresses and ports that are ready.", print_endpoints_cell),
                                age_column()}},
          .make = made<EndpointsStrategy>(),
          .storage_prefix = "services/endpoints",
          .deprecation_warning = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"};
}

KindRow event_row() {
  return {.resource = "events",
          .kind = "Event",
          .short_names = {"ev"},
          .facts = {.name_rule = NameRule::kPathSegment,
                    .create_on_update = true,
                    .rechecks_metadata_change = false,
                    .selectable = event_fields(),
                    .columns = {computed_column("Last Seen", "Time since it happened last.", print_event),
                                next_column("Type", "Normal or Warning."),
                                next_column("Reason", "Why, as one word."),
                                next_column("Object", "What it is about."),
                                next_column("Subobject", "The part of the object it is about.", 1),
                                next_column("Source", "Who reported it.", 1),
                                next_column("Message", "What happened."),
                                next_column("First Seen", "Time since it happened first.", 1),
                                next_column("Count", "How often it happened.", 1),
                                {.name = "Name", .format = "name", .description = "Name of the event.", .priority = 1}}},
          .make = made<EventStrategy>()};
}

}  // namespace backplane::core
