#include "contract_targets.hpp"

#include "backplane/types/cel.hpp"
#include "backplane/types/json_path.hpp"
#include "backplane/types/schema.hpp"
#include "column_path.hpp"
#include "conversion_review.hpp"
#include "require.hpp"

namespace backplane::fuzz {
namespace {

constexpr std::string_view kSubject =
    R"({"type":"object","properties":{"name":{"type":"string"},"count":{"type":"integer"},"ratio":{"type":"number"},)"
    R"("port":{"x-kubernetes-int-or-string":true},"when":{"type":"string","format":"date-time"},"bytes":{"type":"string","format":"byte"},)"
    R"("tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},"parts":{"type":"array",)"
    R"("x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["n"],"items":{"type":"object","properties":{"n":{"type":"string"},)"
    R"("v":{"type":"integer"}}}},"labels":{"type":"object","additionalProperties":{"type":"string"}},"free":{"type":"object",)"
    R"("x-kubernetes-preserve-unknown-fields":true}}})";

std::shared_ptr<const cel::Environment> subject_environment() {
  const Value schema = *parse_json(kSubject, {}, nullptr);
  cel::EnvironmentOptions options;
  const cel::TypeRef type = cel::declare(schema.get_object(), false);
  options.variables = {{"self", type}, {"oldSelf", cel::optional_type(type)}, {"any", cel::named_type("dyn")}};
  return cel::Environment::make(std::move(options));
}

struct Halves {
  std::string_view line;
  std::optional<Value> tree;
};

Halves halves(std::string_view bytes) {
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  Halves out{bytes.substr(0, end), std::nullopt};
  auto tree = parse_json(bytes.substr(std::min(end + 1, bytes.size())), json::make_shared_resource<json::monotonic_resource>(), nullptr);
  if (tree.ok()) out.tree = std::move(*tree);
  return out;
}

// Runs a program twice. Checks that both runs have the same result, and that no run exceeds its budget.
void run_twice(const cel::Program& program, const Value& tree, std::uint64_t left) {
  const cel::Binding bindings[] = {{"self", &tree}, {"oldSelf", nullptr}, {"any", &tree}};
  cel::Budget first{left, cel::kCostPerCall, nullptr}, second = first;
  const cel::Outcome one = cel::run(program, bindings, first);
  const cel::Outcome two = cel::run(program, bindings, second);
  FUZZ_REQUIRE(one.end == two.end && one.cost == two.cost && one.message == two.message && first.left == second.left);
  FUZZ_REQUIRE(first.left <= left);
  FUZZ_REQUIRE((one.end == cel::Outcome::End::kFailed) <= !one.message.empty());
}

}  // namespace

void expression_values(std::string_view bytes) {
  static const auto kEnvironment = subject_environment();
  const Halves input = halves(bytes);
  if (!input.tree || input.line.size() > 1000) return;
  const cel::Compiled compiled = kEnvironment->compile(input.line);
  if (compiled.program == nullptr) return;
  run_twice(*compiled.program, *input.tree, 100'000);
  run_twice(*compiled.program, *input.tree, 10);
}

void json_paths(std::string_view bytes) {
  const Halves input = halves(bytes);
  const auto path = JsonPath::parse(input.line);
  if (!path || !input.tree || !input.tree->is_object()) return;
  (void)path->first(*input.tree);
  const Value* first = path->first(input.tree->get_object());
  const Value* met = nullptr;
  const bool stopped = path->each(input.tree->get_object(), [&](const Value& found) { return met = &found, true; });
  FUZZ_REQUIRE(stopped == (first != nullptr) && met == first);
  std::size_t count = 0;
  path->each(input.tree->get_object(), [&](const Value&) { return ++count == 100'000; });
  FUZZ_REQUIRE((count == 0) == (first == nullptr));
}

void column_paths(std::string_view bytes) {
  const Halves input = halves(bytes);
  const auto path = apiextensions::ColumnPath::parse(input.line);
  if (path && input.tree && input.tree->is_object()) (void)path->first(input.tree->get_object());
}

void conversion_answers(std::string_view bytes) {
  static const auto kAsked = [] {
    std::vector<Object> out;
    for (const std::string_view name : {"a", "b"}) {
      out.push_back(Object{{"apiVersion", "e.com/v1"}, {"kind", "Foo"}, {"metadata", {{"name", name}, {"uid", "u"}}}, {"size", 1}});
    }
    return out;
  }();
  for (const std::string_view version : {"v1", "v1beta1"}) {
    const apiextensions::ReviewQuestion question{std::string(version), "7", "e.com/v1, Kind=Foo", "e.com/v2"};
    const apiextensions::ReviewAnswer answer = apiextensions::read_answer(question, kAsked, {200, "application/json", std::string(bytes)});
    FUZZ_REQUIRE(answer.problem.empty() == (answer.fault == apiextensions::ReviewFault::kNone));
    if (!answer.problem.empty()) {
      FUZZ_REQUIRE(answer.problem.starts_with("conversion webhook for e.com/v1, Kind=Foo "));
      continue;
    }
    FUZZ_REQUIRE(answer.objects.size() == kAsked.size());
    for (std::size_t i = 0; i < kAsked.size(); ++i) {
      const Object& metadata = answer.objects[i].at("metadata").as_object();
      FUZZ_REQUIRE(metadata.at("name") == kAsked[i].at("metadata").at("name") && metadata.at("uid") == "u");
      FUZZ_REQUIRE(answer.objects[i].at("apiVersion") == "e.com/v2" && answer.objects[i].at("kind") == "Foo");
    }
  }
}

}  // namespace backplane::fuzz
