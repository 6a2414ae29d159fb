// Ingresses and their classes.
#include <algorithm>

#include "backplane/kit/addresses.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/names.hpp"
#include "kinds.hpp"

namespace backplane::networking {
namespace {

using namespace kit;

// The older way to say the class.
constexpr std::string_view kClassAnnotation = "kubernetes.io/ingress.class";

class IngressStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check_new(const Object& object, FieldErrors& errors) const override {
    const Value* annotation = find_path(object, {"metadata", "annotations", kClassAnnotation});
    const Value* name = find_path(object, {"spec", "ingressClassName"});
    if (annotation == nullptr || name == nullptr || *annotation == *name) return;
    errors.invalid(at("annotations", kClassAnnotation), text_of(*annotation), "must match `ingressClassName` when both are specified");
  }
};

class IngressStatusStrategy final : public StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  std::vector<std::string> warnings(const Object& object, const Object*) const override {
    std::vector<std::string> out;
    const Object& balancer = object_or_empty(object_or_empty(object, "status"), "loadBalancer");
    each(balancer, "ingress", [&](const Object& point, std::size_t i) {
      const std::string path = at("status.loadBalancer.ingress", i);
      for (std::string& text : ip_warnings(path, get_string(point, "ip"))) out.push_back(std::move(text));
    });
    return out;
  }
};

// "example.com/ingress".
void check_controller(std::string_view name, FieldErrors& errors) {
  static constexpr std::string_view kPath = "spec.controller";
  const auto slash = name.find('/');
  if (name.empty()) return;  // the schema says so
  if (slash == 0 || slash == std::string_view::npos || slash + 1 == name.size()) {
    errors.invalid(std::string(kPath), name, "must be a domain-prefixed path (such as \"acme.io/foo\")");
    return;
  }
  const std::string_view domain = name.substr(0, slash), path = name.substr(slash + 1);
  for (const std::string& problem : is_dns1123_subdomain(domain)) errors.invalid(std::string(kPath), domain, problem);
  static constexpr std::string_view kMarks = "/-._~%!$&'()*+,;=:";
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || kMarks.find(c) != std::string_view::npos;
  };
  if (std::all_of(path.begin(), path.end(), allowed)) return;
  errors.invalid(std::string(kPath), path, "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')");
}

class IngressClassStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    check_controller(get_string_path(object, "spec.controller"), errors);
  }
};

}  // namespace

KindCode ingress_code() { return {.make = made<IngressStrategy>(), .make_status = made_status<IngressStatusStrategy>}; }
KindCode ingress_class_code() { return {.make = made<IngressClassStrategy>()}; }

}  // namespace backplane::networking
