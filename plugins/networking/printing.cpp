// Computed columns of the group.
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/table.hpp"
#include "kinds.hpp"

namespace backplane::networking {
namespace {

using namespace kit;

constexpr std::size_t kShownHosts = 3;

void print_class_name(const Object& object, std::int64_t, Array& cells) {
  const Value* is_default = find_path(object, {"metadata", "annotations", "ingressclass.kubernetes.io/is-default-class"});
  const bool marked = is_default != nullptr && text_of(*is_default) == "true";
  cells.emplace_back(std::string(meta_name(object)) + (marked ? " (default)" : ""));
}

// "Params.example.com/p"
void print_parameters(const Object& object, std::int64_t, Array& cells) {
  const Object* parameters = get_object(object_or_empty(object, "spec"), "parameters");
  if (parameters == nullptr) return static_cast<void>(cells.emplace_back("<none>"));
  std::string out(get_string(*parameters, "kind"));
  if (has(*parameters, "apiGroup")) out += "." + std::string(get_string(*parameters, "apiGroup"));
  cells.emplace_back(out + "/" + std::string(get_string(*parameters, "name")));
}

// "a.example.com,b.example.com,c.example.com + 2 more..."
void print_hosts(const Object& object, std::int64_t, Array& cells) {
  const Object& spec = object_or_empty(object, "spec");
  std::vector<std::string> shown;
  bool more = false;
  each(spec, "rules", [&](const Object& rule, std::size_t) {
    more = more || shown.size() == kShownHosts;
    const std::string_view host = get_string(rule, "host");
    if (!more && !host.empty()) shown.emplace_back(host);
  });
  std::string out = shown.empty() ? "*" : joined(shown);
  if (more) out += " + " + std::to_string(count_of(spec, "rules") - kShownHosts) + " more...";
  cells.emplace_back(out);
}

void print_load_balancer(const Object& object, std::int64_t, Array& cells) {
  std::set<std::string> points;
  each(object_or_empty(object_or_empty(object, "status"), "loadBalancer"), "ingress", [&](const Object& point, std::size_t) {
    std::string_view name = get_string(point, "ip");
    if (name.empty()) name = get_string(point, "hostname");
    if (!name.empty()) points.emplace(name);
  });
  cells.emplace_back(joined({points.begin(), points.end()}));
}

void print_ingress_ports(const Object& object, std::int64_t, Array& cells) {
  cells.emplace_back(count_of(object_or_empty(object, "spec"), "tls") > 0 ? "80, 443" : "80");
}

// "services/default/kubernetes", and the age, for which upstream has no column.
void print_parent(const Object& object, std::int64_t now_unix, Array& cells) {
  const Object* parent = get_object(object_or_empty(object, "spec"), "parentRef");
  std::string out = "<none>";
  if (parent != nullptr) {
    out = lower_case(GroupResource{std::string(get_string(*parent, "group")), std::string(get_string(*parent, "resource"))}.to_string());
    if (!get_string(*parent, "namespace").empty()) out += "/" + std::string(get_string(*parent, "namespace"));
    out += "/" + std::string(get_string(*parent, "name"));
  }
  cells.emplace_back(out);
  cells.emplace_back(age_of(object, now_unix));
}

}  // namespace

void add_printers(GroupCode& code) {
  code.printers.insert({{"className", print_class_name},
                        {"parameters", print_parameters},
                        {"hosts", print_hosts},
                        {"loadBalancer", print_load_balancer},
                        {"ingressPorts", print_ingress_ports},
                        {"parent", print_parent}});
}

}  // namespace backplane::networking
