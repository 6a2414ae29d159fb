#include "conformance/run.hpp"

#include <chrono>
#include <ostream>
#include <thread>

#include "backplane/core/json_access.hpp"
#include "backplane/core/text.hpp"
#include "backplane/types/schema.hpp"
#include "conformance/checks.hpp"
#include "conformance/types.hpp"

namespace backplane::conformance {
namespace {

constexpr std::chrono::seconds kNamespaceLeaves{20};

bool applies(const Area& area, const Subject& subject, bool has_sample) {
  const std::string_view verb = area.verb, part = area.subresource;
  if (verb.empty() && part.empty()) return true;
  if (!has_sample || !subject.can("create") || !subject.can("get")) return false;
  return (verb.empty() || subject.can(verb)) && (part.empty() || subject.has(part));
}

void check_type(const Plan& plan, Api& admin, Api& anonymous_api, const Type& type, const std::string& ns, Report& report,
                std::ostream& out) {
  const Object* sample = sample_of(plan.samples, type);
  Subject subject(admin, anonymous_api, type, sample == nullptr ? Object() : *sample, type.namespaced ? ns : "");
  if (sample == nullptr && subject.can("create") && subject.can("get"))
    out << "no sample of " << type.kind << " (" << type.api_version() << "): only discovery and access are checked\n";
  for (const Area& area : areas()) {
    if (!applies(area, subject, sample != nullptr)) continue;
    report.begin(type.api_version() + " " + type.resource + ": " + area.name);
    area.check(subject, report);
  }
  if (sample == nullptr || type.namespaced || !subject.can("deletecollection")) return;
  // Deletes the cluster-scoped objects that remain after the areas.
  const Answer list = admin.get(subject.collection());
  const Array* items = get_array(list.object, "items");
  for (const Value& item : items == nullptr ? Array() : *items) {
    const std::string_view name = get_string_path(item.get_object(), "metadata.name");
    if (name.starts_with("conformance-")) admin.remove(subject.item(name));
  }
}

// Deletes the namespace, and checks that the server deletes it within 20 s.
void end_namespace(Api& api, const std::string& ns, Report& report) {
  report.begin("namespace " + ns);
  const std::string path = "/api/v1/namespaces/" + ns;
  api.remove(path);
  const auto until = std::chrono::steady_clock::now() + kNamespaceLeaves;
  Answer left = api.get(path);
  while (left.code != 404 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    left = api.get(path);
  }
  report.error("objects go with their namespace", left, 404, "NotFound");
}

}  // namespace

Result<std::vector<Object>> read_samples(std::string_view yaml) {
  std::vector<Object> out;
  for (std::size_t at = 0; at < yaml.size();) {
    auto end = yaml.find("\n---", at);
    const std::string_view text = yaml.substr(at, end == std::string_view::npos ? end : end - at + 1);
    at = end == std::string_view::npos ? yaml.size() : std::min(yaml.find('\n', end + 1), yaml.size() - 1) + 1;
    auto document = parse_yaml(text, {}, nullptr);
    if (!document.ok()) return std::move(document.status());
    if (document->is_object()) out.push_back(std::move(document->get_object()));
  }
  return out;
}

Result<Report> run_checks(const Plan& plan, std::ostream& out) {
  auto admin = Api::connect(plan.server);
  if (!admin.ok()) return std::move(admin.status());
  ClientConfig anonymous_config = plan.server;
  for (std::string* each : {&anonymous_config.client_certificate, &anonymous_config.client_key, &anonymous_config.client_certificate_file,
                            &anonymous_config.client_key_file, &anonymous_config.token, &anonymous_config.token_file})
    each->clear();
  auto anonymous_api = Api::connect(std::move(anonymous_config));
  if (!anonymous_api.ok()) return std::move(anonymous_api.status());
  const Answer ns = (*admin)->post("/api/v1/namespaces", Object{{"metadata", Object{{"generateName", "conformance-"}}}});
  if (ns.code != 201) return bad_request("the server does not create a namespace: " + shown(ns));
  const std::string name(ns.text("metadata.name"));
  Report report(out, plan.verbose);
  for (const auto& group : plan.groups) {
    const std::vector<Type> types = types_of(**admin, group);
    if (types.empty()) return bad_request("the server has no types in the group " + quoted(group));
    for (const Type& type : types) check_type(plan, **admin, **anonymous_api, type, name, report, out);
  }
  end_namespace(**admin, name, report);
  return report;
}

}  // namespace backplane::conformance
