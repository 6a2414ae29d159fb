// Assembles the group flowcontrol.apiserver.k8s.io: validation that concerns several fields, and printers of table cells.
#include <algorithm>
#include <array>
#include <cmath>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/types/names.hpp"
#include "flowcontrol_group_json.hpp"
#include "kinds.hpp"

namespace backplane::flowcontrol {
namespace {

using namespace kit;

bool has_star(const std::vector<std::string>& list) { return std::find(list.begin(), list.end(), "*") != list.end(); }

void check_verbs(const Object& rule, const std::string& path, FieldErrors& errors) {
  static const std::vector<std::string> kVerbs = {"create", "delete", "deletecollection", "get",  "list",
                                                  "patch",  "proxy",  "update",           "watch"};
  const std::vector<std::string> verbs = texts_of(rule, "verbs");
  const auto known = [](const std::string& verb) { return std::binary_search(kVerbs.begin(), kVerbs.end(), verb); };
  if (has_star(verbs) || std::all_of(verbs.begin(), verbs.end(), known)) return;
  std::string supported;
  for (const std::string& verb : kVerbs) supported += (supported.empty() ? "" : ", ") + quoted(verb);
  const std::string message = "Unsupported value: " + to_json(*find(rule, "verbs")) + ": supported values: " + supported;
  errors.add({FieldErrorType::kNotSupported, at(path, "verbs"), message});
}

void check_namespaces(const Object& rule, const std::string& path, FieldErrors& errors) {
  if (has_star(texts_of(rule, "namespaces"))) return;
  each_text(rule, "namespaces", [&](std::string_view name, std::size_t i) {
    for (const std::string& problem : is_dns1123_label(name)) {
      errors.invalid(at(at(path, "namespaces"), i), name, "each member of this list must be '*' or a DNS-1123 label; " + problem);
    }
  });
}

std::string_view url_problem(std::string_view path) {
  if (path.empty()) return "must not be empty";
  if (path == "/") return {};
  if (path.front() != '/') return "must start with slash";
  if (path.find(' ') != std::string_view::npos) return "must not contain white-space";
  if (path.find("//") != std::string_view::npos) return "must not contain double slash";
  const auto stars = std::count(path.begin(), path.end(), '*');
  return stars > 1 || (stars == 1 && !path.ends_with("/*")) ? "wildcard can only do suffix matching" : "";
}

void check_urls(const Object& rule, const std::string& path, FieldErrors& errors) {
  if (has_star(texts_of(rule, "nonResourceURLs"))) return;
  each_text(rule, "nonResourceURLs", [&](std::string_view url, std::size_t i) {
    if (const std::string_view problem = url_problem(url); !problem.empty()) {
      errors.invalid(at(at(path, "nonResourceURLs"), i), url, problem);
    }
  });
}

// Formats the spec as kube-apiserver prints the Go struct in errors.
std::string go_spec(std::string_view type, const Object& spec) {
  return to_json(flowcontrol_schemas()->find("io.k8s.api.flowcontrol.v1." + std::string(type))->go_struct(spec));
}

const Bootstrap* find_mandatory(std::string_view resource, const Object& object) {
  const Bootstrap* found = find_bootstrap(resource, meta_name(object));
  return found != nullptr && found->mandatory ? found : nullptr;
}

class FlowSchemaStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void canonicalize(Object& object) const override {
    each_mutable(ensure_object(object, "spec"), "rules",
                 [](Object& rule) { each_mutable(rule, "resourceRules", [](Object& each) { null_when_empty(each, "namespaces"); }); });
  }

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    if (get_int(spec, "matchingPrecedence") == 1 && meta_name(object) != "exempt") {
      errors.invalid("spec.matchingPrecedence", 1, "only the schema named 'exempt' may have matchingPrecedence 1");
    }
    each(spec, "rules", [&](const Object& rule, std::size_t i) { check_rule(rule, at("spec.rules", i), errors); });
    const Bootstrap* mandatory = find_mandatory(kFlowSchemas, object);
    if (mandatory == nullptr || mandatory->spec == spec) return;
    errors.invalid_raw("spec", go_spec("FlowSchemaSpec", spec), "spec of '" + mandatory->name + "' must equal the fixed value");
  }

 private:
  static void check_rule(const Object& rule, const std::string& path, FieldErrors& errors) {
    each(rule, "resourceRules", [&](const Object& each, std::size_t i) {
      const std::string here = at(at(path, "resourceRules"), i);
      check_verbs(each, here, errors);
      check_namespaces(each, here, errors);
    });
    each(rule, "nonResourceRules", [&](const Object& each, std::size_t i) {
      const std::string here = at(at(path, "nonResourceRules"), i);
      check_verbs(each, here, errors);
      check_urls(each, here, errors);
    });
  }
};

// The number of hash bits that are used to deal a hand of queues.
int entropy_bits(std::int64_t queues, std::int64_t hand) {
  return static_cast<int>(std::ceil(std::log2(static_cast<double>(queues)) * static_cast<double>(hand)));
}

void check_hand(const Object& queuing, FieldErrors& errors) {
  constexpr int kHashBits = 60;
  const std::string path = "spec.limited.limitResponse.queuing.handSize";
  const std::int64_t queues = get_int(queuing, "queues").value_or(0), hand = get_int(queuing, "handSize").value_or(0);
  if (hand <= 0) return;
  if (hand > queues) {
    errors.invalid(path, hand, "should not be greater than queues (" + std::to_string(queues) + ")");
  } else if (entropy_bits(queues, hand) > kHashBits) {
    errors.invalid(path, hand,
                   "required entropy bits of deckSize " + std::to_string(queues) + " and handSize " + std::to_string(hand) +
                       " should not be greater than " + std::to_string(kHashBits));
  }
}

class PriorityLevelStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    // v1 objects must not have the annotation of the conversion from v1beta3.
    static const std::string kRoundTrip = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";
    if (find_path(object, {"metadata", "annotations", kRoundTrip}) != nullptr) {
      errors.forbidden("metadata.annotations", "annotation '" + kRoundTrip + "' is forbidden");
    }
    const Object& spec = object_or_empty(object, "spec");
    const std::string_view type = get_string(spec, "type");
    if ((meta_name(object) == "exempt") != (type == "Exempt")) {
      errors.invalid("spec.type", type, "must be 'Exempt' if and only if `name` is 'exempt'");
    }
    const Value* queuing = type == "Limited" ? find_path(spec, "limited.limitResponse.queuing") : nullptr;
    if (queuing != nullptr && queuing->is_object() && get_string_path(spec, "limited.limitResponse.type") == "Queue") {
      check_hand(queuing->get_object(), errors);
    }
    check_mandatory(object, spec, errors);
  }

 private:
  // In the level `exempt`, the nominal shares and the lendable percent may be changed.
  static void check_mandatory(const Object& object, const Object& spec, FieldErrors& errors) {
    const Bootstrap* mandatory = find_mandatory(kPriorityLevels, object);
    if (mandatory == nullptr) return;
    const bool exempt = mandatory->name == "exempt";
    Object have(spec);
    if (exempt) take_member(have, mandatory->spec, "exempt");
    if (have == mandatory->spec) return;
    errors.invalid_raw(
        "spec", go_spec("PriorityLevelConfigurationSpec", spec),
        "spec of '" + mandatory->name + "'" + (exempt ? " except the 'spec.exempt' field" : "") + " must equal the fixed value");
  }
};

Value show_number_or_none(const Value* found, std::int64_t) { return found != nullptr && found->is_int64() ? *found : Value("<none>"); }

void print_missing_level(const Object& object, std::int64_t, Array& cells) {
  const Object* dangling = find_item(object_or_empty(object, "status"), "conditions", "type", "Dangling");
  cells.emplace_back(dangling != nullptr ? get_string(*dangling, "status") : "?");
}

}  // namespace

Result<GroupDocument> flowcontrol_group() {
  GroupCode code;
  code.printers.insert({{"numberOrNone", show_number_or_none}, {"missingLevel", print_missing_level}});
  code.kinds["FlowSchema"] = {.make = made<FlowSchemaStrategy>()};
  code.kinds["PriorityLevelConfiguration"] = {.make = made<PriorityLevelStrategy>()};
  return read_group(flowcontrol_group_json(), code);
}

}  // namespace backplane::flowcontrol
