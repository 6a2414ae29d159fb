// Endpoints and events.
#include <algorithm>
#include <ctime>

#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/names.hpp"
#include "backplane/workload/addresses.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "backplane/workload/warnings.hpp"
#include "kinds/strategies.hpp"

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

class EndpointsStrategy final : public KindStrategy {
 public:
  const TableConvertor& table_convertor() const override {
    static const PrintedTable table({name_column(), text_column("Endpoints", "Addresses and ports that are ready."), age_column()},
                                    [](const Object& object, std::int64_t now, Array& cells) {
                                      cells.emplace_back(meta_name(object));
                                      cells.emplace_back(print_endpoints(object));
                                      cells.emplace_back(age_of(object, now));
                                    });
    return table;
  }
  bool allow_create_on_update() const override { return true; }
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
  void apply_defaults(Object& object) const override {
    each_mutable(object, "subsets",
                 [](Object& subset) { each_mutable(subset, "ports", [](Object& port) { fill(port, "protocol", "TCP"); }); });
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
    for (std::string_view list : {"addresses", "notReadyAddresses"}) {
      each(subset, list, [&](const Object& address, std::size_t i) { check_address(address, at(at(path, list), i), errors); });
    }
    const bool many = items(subset, "ports") > 1;
    each(subset, "ports", [&](const Object& port, std::size_t i) { check_port_row(port, at(at(path, "ports"), i), many, errors); });
  }
  static void check_address(const Object& address, const std::string& path, FieldErrors& errors) {
    const std::string_view ip = get_string(address, "ip"), host = get_string(address, "hostname"), node = get_string(address, "nodeName");
    add_problems(legacy_ip_problems(ip), at(path, "ip"), ip, errors);
    if (!host.empty()) add_problems(is_dns1123_label(host), at(path, "hostname"), host, errors);
    if (!node.empty()) add_problems(is_dns1123_subdomain(node), at(path, "nodeName"), node, errors);
    // Addresses that never leave a host are checked apart, and a text that is no address fails there once more.
    if (!is_valid_ip(ip).empty()) errors.invalid(at(path, "ip"), ip, "must be a valid IP address");
  }
  static void check_port_row(const Object& port, const std::string& path, bool needs_name, FieldErrors& errors) {
    const std::string_view name = get_string(port, "name");
    if (needs_name && name.empty()) errors.required(at(path, "name"));
    if (!name.empty()) add_problems(is_dns1123_label(name), at(path, "name"), name, errors);
    check_port(find(port, "port"), at(path, "port"), errors);
    if (get_string(port, "protocol").empty())
      errors.required(at(path, "protocol"));
    else
      check_one_of(port, "protocol", path, {"SCTP", "TCP", "UDP"}, errors);
    if (const std::string_view app = get_string(port, "appProtocol"); !app.empty()) {
      add_problems(is_qualified_name(app), at(path, "appProtocol"), app, errors);
    }
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

class EventStrategy final : public KindStrategy {
 public:
  NameRule name_rule() const override { return NameRule::kPathSegment; }
  bool allow_create_on_update() const override { return true; }
  std::vector<SelectableField> selectable_fields() const override {
    std::vector<SelectableField> out;
    for (const char* member : {"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"}) {
      const std::string path = std::string("involvedObject.") + member;
      out.push_back({path, path, ""});
    }
    out.push_back({"reason", "reason", ""});
    out.push_back({"reportingComponent", "reportingComponent", ""});
    out.push_back({"source", "source.component", ""});
    out.push_back({"type", "type", ""});
    return out;
  }
  const TableConvertor& table_convertor() const override {
    static const PrintedTable table({text_column("Last Seen", "Time since it happened last."),
                                     text_column("Type", "Normal or Warning."),
                                     text_column("Reason", "Why, as one word."),
                                     text_column("Object", "What it is about."),
                                     text_column("Subobject", "The part of the object it is about.", 1),
                                     text_column("Source", "Who reported it.", 1),
                                     text_column("Message", "What happened."),
                                     text_column("First Seen", "Time since it happened first.", 1),
                                     text_column("Count", "How often it happened.", 1),
                                     {"Name", "string", "name", "Name of the event.", 1}},
                                    print_event);
    return table;
  }

 protected:
  bool rechecks_metadata_change() const override { return false; }
  void check(const Object& object, FieldErrors& errors) const override {
    const std::string_view ns = meta_namespace(object), about = get_string_path(object, "involvedObject.namespace");
    // Events about cluster-scoped objects live in "default".
    const bool same = about == ns || (about.empty() && ns == "default");
    if (!same) errors.invalid("involvedObject.namespace", about, "does not match event.namespace");
  }
};

}  // namespace

std::shared_ptr<const Strategy> endpoints_strategy() { return std::make_shared<EndpointsStrategy>(); }
std::shared_ptr<const Strategy> event_strategy() { return std::make_shared<EventStrategy>(); }

}  // namespace backplane::core
