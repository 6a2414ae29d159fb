#include "pods/limit_rules.hpp"

#include <cstdio>

#include "backplane/core/json_access.hpp"
#include "common/pod_resources.hpp"
#include "pods/quantities.hpp"

namespace backplane::admission::pods {
namespace {

using Texts = std::vector<std::string>;

// One rule of a LimitRange about one resource.
struct Demand {
  std::string type;  // the type of the LimitRange's item: Container, Pod, PersistentVolumeClaim
  std::string resource;
  std::string enforced;

  std::string start(std::string_view what) const { return std::string(what) + " " + resource + " usage per " + type + " is " + enforced; }
};

// Request, limit and enforced quantity in one unit: thousandths, or whole units if one of them is too large for thousandths.
struct Compared {
  std::int64_t request, limit, enforced;
};
Compared compared(std::string_view request, std::string_view limit, std::string_view enforced) {
  const Compared whole{whole_value(request), whole_value(limit), whole_value(enforced)};
  if (whole.request > kMaxMilliValue || whole.limit > kMaxMilliValue || whole.enforced > kMaxMilliValue) return whole;
  return {milli_value(request), milli_value(limit), milli_value(enforced)};
}

struct Asked {
  ResourceList requests;
  ResourceList limits;
};

// The quantity of the resource; null if there is none.
const std::string* amount_of(const ResourceList& amounts, std::string_view resource) {
  const auto found = amounts.find(resource);
  return found == amounts.end() ? nullptr : &found->second;
}
std::string_view amount_or_zero(const std::string* amount) { return amount != nullptr ? std::string_view(*amount) : "0"; }

std::string min_problem(const Demand& demand, const Asked& asked) {
  const std::string *request = amount_of(asked.requests, demand.resource), *limit = amount_of(asked.limits, demand.resource);
  const Compared values = compared(amount_or_zero(request), amount_or_zero(limit), demand.enforced);
  if (request == nullptr) return demand.start("minimum") + ".  No request is specified";
  if (values.request < values.enforced) return demand.start("minimum") + ", but request is " + *request;
  if (limit != nullptr && values.limit < values.enforced) return demand.start("minimum") + ", but limit is " + *limit;
  return {};
}

std::string max_problem(const Demand& demand, const Asked& asked) {
  const std::string *request = amount_of(asked.requests, demand.resource), *limit = amount_of(asked.limits, demand.resource);
  const Compared values = compared(amount_or_zero(request), amount_or_zero(limit), demand.enforced);
  if (limit == nullptr) return demand.start("maximum") + ".  No limit is specified";
  if (values.limit > values.enforced) return demand.start("maximum") + ", but limit is " + *limit;
  if (request != nullptr && values.request > values.enforced) return demand.start("maximum") + ", but request is " + *request;
  return {};
}

// Checks the maximum for claims, whose limits are ignored.
std::string max_request_problem(const Demand& demand, const Asked& asked) {
  const std::string* request = amount_of(asked.requests, demand.resource);
  const Compared values = compared(amount_or_zero(request), "0", demand.enforced);
  if (request == nullptr) return demand.start("maximum") + ".  No request is specified";
  if (values.request > values.enforced) return demand.start("maximum") + ", but request is " + *request;
  return {};
}

std::string go_float(double number) {
  char text[400];
  const int size = std::snprintf(text, sizeof text, "%f", number);
  return std::string(text, static_cast<std::size_t>(size));
}

std::string ratio_problem(const Demand& demand, const Asked& asked) {
  const std::string *request = amount_of(asked.requests, demand.resource), *limit = amount_of(asked.limits, demand.resource);
  const Compared values = compared(amount_or_zero(request), amount_or_zero(limit), demand.enforced);
  const std::string start = demand.resource + " max limit to request ratio per " + demand.type + " is " + demand.enforced + ", but ";
  if (request == nullptr || values.request == 0) return start + "no request is specified or request is 0";
  if (limit == nullptr || values.limit == 0) return start + "no limit is specified or limit is 0";
  const double ratio = static_cast<double>(values.limit) / static_cast<double>(values.request);
  const bool fine = whole_value(demand.enforced) <= kMaxMilliValue;
  const double most = static_cast<double>(fine ? milli_value(demand.enforced) : whole_value(demand.enforced));
  if ((fine ? ratio * 1000 : ratio) <= most) return {};
  return start + "provided ratio is " + go_float(ratio);
}

using Rule = std::string (*)(const Demand& demand, const Asked& asked);

void check_demands(const Object& item, std::string_view list, Rule rule, const Asked& asked, Texts& problems) {
  for (auto& [resource, quantity] : read_resources(item, list)) {
    std::string problem = rule({std::string(get_string(item, "type")), resource, quantity}, asked);
    if (!problem.empty()) problems.push_back(std::move(problem));
  }
}

void check_all(const Object& item, const Asked& asked, Texts& problems) {
  check_demands(item, "min", min_problem, asked, problems);
  check_demands(item, "max", max_problem, asked, problems);
  check_demands(item, "maxLimitRequestRatio", ratio_problem, asked, problems);
}

void check_containers(const Object& item, const Object& spec, Texts& problems) {
  for (std::string_view list : {"containers", "initContainers"}) {
    each(spec, list, [&](const Object& container, std::size_t) {
      const Object& resources = object_or_empty(container, "resources");
      check_all(item, {read_resources(resources, "requests"), read_resources(resources, "limits")}, problems);
    });
  }
}

Asked asked_of_pod(const Object& pod, bool pod_level) {
  Asked out{sum_of_containers(pod, ResourceSide::kRequests), sum_of_containers(pod, ResourceSide::kLimits)};
  if (!pod_level) return out;
  take_pod_level(out.requests, pod, ResourceSide::kRequests, /*huge_pages=*/false);
  take_pod_level(out.limits, pod, ResourceSide::kLimits, /*huge_pages=*/false);
  return out;
}

}  // namespace

Texts limit_problems_of_pod(const Object& limit_range, const Object& pod, bool pod_level) {
  Texts problems;
  const Object& spec = object_or_empty(pod, "spec");
  each(object_or_empty(limit_range, "spec"), "limits", [&](const Object& item, std::size_t) {
    const std::string_view type = get_string(item, "type");
    if (type == "Container") check_containers(item, spec, problems);
    if (type == "Pod") check_all(item, asked_of_pod(pod, pod_level), problems);
  });
  return problems;
}

Texts limit_problems_of_claim(const Object& limit_range, const Object& claim) {
  Texts problems;
  const Asked asked{read_resources(object_or_empty(object_or_empty(claim, "spec"), "resources"), "requests"), {}};
  each(object_or_empty(limit_range, "spec"), "limits", [&](const Object& item, std::size_t) {
    if (get_string(item, "type") != "PersistentVolumeClaim") return;
    check_demands(item, "min", min_problem, asked, problems);
    check_demands(item, "max", max_request_problem, asked, problems);
  });
  return problems;
}

}  // namespace backplane::admission::pods
