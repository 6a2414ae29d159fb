// The target for the CEL compiler: expressions of rules and policies.
#include "backplane/types/cel_policy.hpp"
#include "require.hpp"
#include "text_targets.hpp"

namespace backplane::fuzz {
namespace {

cel::TypeRef subject() {
  const auto text = cel::named_type("string");
  return cel::object_type("subject", {{"name", text},
                                      {"count", cel::named_type("int")},
                                      {"tags", cel::list_type(text)},
                                      {"labels", cel::map_type(text, text)},
                                      {"any", cel::named_type("dyn")}});
}

std::shared_ptr<const cel::Environment> environment(unsigned version) {
  cel::EnvironmentOptions options;
  options.version = version;
  options.variables = {{"self", subject()}, {"oldSelf", cel::optional_type(subject())}};
  return cel::Environment::make(std::move(options));
}

// Checks that compiling returns either a program or problems.
void compile(const cel::Environment& environment, std::string_view text) {
  const cel::Compiled compiled = environment.compile(text);
  const bool refused = compiled.problems.starts_with("ERROR: <input>:") || compiled.problems.starts_with("program instantiation failed: ");
  FUZZ_REQUIRE((compiled.program == nullptr) == refused);
  if (compiled.program == nullptr) return;
  FUZZ_REQUIRE(compiled.problems.empty() && compiled.program->source() == text);
  FUZZ_REQUIRE(!compiled.program->result_type().empty());
  (void)compiled.program->cost();
}

}  // namespace

void expressions(std::string_view bytes) {
  static const auto kNewest = environment(36), kOldest = environment(23);
  compile(*kNewest, bytes);
  compile(*kOldest, bytes);
}

}  // namespace backplane::fuzz
