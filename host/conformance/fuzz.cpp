#include "conformance/fuzz.hpp"

#include <mutex>
#include <set>
#include <thread>

#include "conformance/fuzz_bodies.hpp"
#include "conformance/report.hpp"
#include "conformance/types.hpp"

namespace backplane::conformance {
namespace {

constexpr std::string_view kNamespace = "fuzz";
constexpr std::string_view kJsonType = "application/json", kYamlType = "application/yaml";
constexpr std::string_view kPatches[] = {"application/merge-patch+json", "application/json-patch+json",
                                         "application/strategic-merge-patch+json", "application/apply-patch+yaml"};
constexpr std::size_t kHealthEvery = 100;

// One type. `item` is the path of an object that updates and patches change.
struct Target {
  Type type;
  Object sample;
  std::string collection, item;
  FuzzRequest make;                                                    // creates the object
  std::vector<std::pair<std::string_view, std::string>> encoded = {};  // the object in binary media types
};

FuzzRequest namespace_request() {
  return {"POST", "/api/v1/namespaces", std::string(kJsonType), to_json(Object{{"metadata", Object{{"name", kNamespace}}}})};
}

// The findings of all connections.
class Findings {
 public:
  // Returns false if there are enough findings.
  bool add(FuzzFinding finding, bool crash) {
    const std::lock_guard lock(mutex_);
    // The same fault is found often. So only the first finding is kept for each method, media type, problem and beginning of the answer.
    // After a crash no connection has a response, and only one of the last requests is the cause, so all these findings are kept.
    const auto& culprit = finding.requests.back();
    const bool first = seen_.insert(culprit.method + culprit.type + finding.problem + finding.answer.substr(0, 60)).second;
    if (!first && !crash) return true;
    findings_.push_back(std::move(finding));
    return findings_.size() < kMostFindings;
  }
  std::vector<FuzzFinding> take() { return std::move(findings_); }

 private:
  std::mutex mutex_;
  std::set<std::string> seen_;
  std::vector<FuzzFinding> findings_;
};

class Worker {
 public:
  Worker(const FuzzPlan& plan, std::unique_ptr<Api> api, std::vector<Target> targets, std::size_t number, Findings& findings)
      : plan_(plan),
        api_(std::move(api)),
        targets_(std::move(targets)),
        number_(number),
        findings_(findings),
        bodies_(plan.seed + static_cast<std::uint32_t>(number)) {}

  void run(std::chrono::steady_clock::time_point until) {
    for (Target& target : targets_) prepare(target);
    while (std::chrono::steady_clock::now() < until && go_on_) {
      Target& target = targets_[bodies_.below(targets_.size())];
      make_request(target);
      if (++requests_ % kHealthEvery == 0) check_health(target);
    }
    for (Target& target : targets_) api_->remove(target.item);
  }
  std::size_t requests() const noexcept { return requests_; }

 private:
  void prepare(Target& target) {
    const std::string name = "kept-" + std::to_string(number_);
    target.item = target.collection + "/" + name;
    target.make = {"POST", target.collection, std::string(kJsonType), to_json(named(target, name))};
    send(*api_, target.make);
    for (const std::string_view type : {"application/cbor", "application/vnd.kubernetes.protobuf"}) {
      const Answer encoded = api_->get(target.item, type);
      if (encoded.code == 200) target.encoded.emplace_back(type, encoded.body);
    }
  }

  Object named(const Target& target, const std::string& name) const {
    Object made = target.sample;
    Object& metadata = ensure_object(made, "metadata");
    metadata["name"] = name;
    if (target.type.namespaced) metadata["namespace"] = kNamespace;
    return made;
  }

  // Returns a media type and the body of the object in it.
  std::pair<std::string, std::string> body_of(Target& target, const std::string& name) {
    const Object object = named(target, name);
    if (!plan_.odd) return {std::string(kJsonType), to_json(object)};
    const std::size_t choice = bodies_.below(10);
    if (choice < 5) return {std::string(kJsonType), json::serialize(bodies_.odd_tree(object))};
    if (choice == 5) return {std::string(kJsonType), bodies_.odd_bytes(to_json(object))};
    if (choice == 6) return {std::string(kYamlType), json::serialize(bodies_.odd_tree(object))};
    if (choice == 7 || target.encoded.empty()) return {std::string(kYamlType), bodies_.odd_bytes(to_json(object))};
    const auto& [type, bytes] = target.encoded[bodies_.below(target.encoded.size())];
    return {std::string(type), bodies_.odd_bytes(bytes)};
  }

  void make_request(Target& target) {
    const std::size_t choice = bodies_.below(10);
    const std::string kept = target.item.substr(target.item.rfind('/') + 1);
    const bool status = target.type.subresources.contains("status") && bodies_.below(4) == 0;
    const std::string item = status ? target.item + "/status" : target.item;
    if (choice < 5) {
      const std::string name = "fuzz-" + std::to_string(number_) + "-" + std::to_string(requests_);
      auto [type, body] = body_of(target, name);
      const bool dry = bodies_.below(2) == 0;
      try_request(target, {"POST", target.collection + (dry ? "?dryRun=All" : ""), std::move(type), std::move(body)});
      if (!dry) api_->remove(target.collection + "/" + name);
    } else if (choice < 8 || !target.type.verbs.contains("patch")) {
      auto [type, body] = body_of(target, kept);
      try_request(target, {"PUT", item, std::move(type), std::move(body)});
    } else {
      patch(target, item, kept);
    }
  }

  void patch(Target& target, const std::string& item, const std::string& name) {
    const std::string_view type = kPatches[plan_.odd ? bodies_.below(std::size(kPatches)) : 0];
    const bool apply = type == kPatches[3];
    Object object = named(target, name);
    if (!apply) object.erase("metadata");
    std::string body = json::serialize(plan_.odd ? bodies_.odd_tree(object) : Value(object));
    if (type == kPatches[1]) body = json::serialize(Array{Object{{"op", "add"}, {"path", "/spec"}, {"value", bodies_.odd_tree(object)}}});
    if (plan_.odd && bodies_.below(4) == 0) body = bodies_.odd_bytes(std::move(body));
    try_request(target, {"PATCH", item + (apply ? "?fieldManager=fuzz&force=true" : ""), std::string(type), std::move(body)});
  }

  void try_request(const Target& target, FuzzRequest request) {
    const Answer answer = send(*api_, request);
    const std::string problem = problem_of(answer);
    if (!problem.empty()) report(target, std::move(request), problem, answer);
    // The server has ended, so the worker sends no more requests.
    if (answer.code == 0 && api_->get("/livez").code == 0) go_on_ = false;
  }
  void check_health(const Target& target) {
    const Answer live = api_->get("/livez");
    if (live.code == 200) return;
    report(target, {"GET", "/livez", {}, {}}, "the server is not healthy", live);
    go_on_ = go_on_ && live.code != 0;
  }
  void report(const Target& target, FuzzRequest request, const std::string& problem, const Answer& answer) {
    FuzzFinding finding{problem, shown(answer), {namespace_request(), target.make, std::move(request)}};
    go_on_ = findings_.add(std::move(finding), answer.code == 0) && go_on_;
  }

  const FuzzPlan& plan_;
  const std::unique_ptr<Api> api_;
  std::vector<Target> targets_;
  const std::size_t number_;
  Findings& findings_;
  BodyMutator bodies_;
  std::size_t requests_ = 0;
  bool go_on_ = true;
};

std::vector<Target> targets_of(Api& api, const FuzzPlan& plan) {
  std::vector<Target> out;
  for (const auto& group : plan.groups) {
    for (Type& type : types_of(api, group)) {
      const Object* sample = sample_of(plan.samples, type);
      if (sample == nullptr || !type.verbs.contains("create") || !type.verbs.contains("get")) continue;
      std::string collection = type.root();
      if (type.namespaced) collection.append("/namespaces/").append(kNamespace);
      collection.append("/").append(type.resource);
      out.push_back({std::move(type), *sample, std::move(collection), {}, {}});
    }
  }
  return out;
}

}  // namespace

Result<FuzzReport> fuzz(const FuzzPlan& plan) {
  Findings findings;
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::size_t i = 0; i < plan.connections; ++i) {
    auto api = Api::connect(plan.server);
    if (!api.ok()) return std::move(api.status());
    if (i == 0) send(**api, namespace_request());
    auto targets = targets_of(**api, plan);
    if (targets.empty()) return bad_request("no type of the groups has a sample; name one with --sample");
    workers.push_back(std::make_unique<Worker>(plan, std::move(*api), std::move(targets), i, findings));
  }
  const auto until = std::chrono::steady_clock::now() + plan.duration;
  std::vector<std::thread> threads;
  for (auto& worker : workers) threads.emplace_back([&worker, until] { worker->run(until); });
  for (auto& thread : threads) thread.join();
  FuzzReport report;
  for (const auto& worker : workers) report.requests += worker->requests();
  report.findings = findings.take();
  return report;
}

}  // namespace backplane::conformance
