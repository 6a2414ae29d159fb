#include "cel/environment.hpp"

namespace backplane BACKPLANE_API {
namespace cel BACKPLANE_API {

using namespace cel_detail;

namespace {

constexpr unsigned kAnyVersion = kNever - 1;

// Libraries that an environment has only if its owner requests them.
bool is_requested(Library library, const Extras& extras) {
  switch (library) {
    case Library::kBindings:
      return extras.bindings;
    case Library::kJsonPatch:
      return extras.json_patch;
    case Library::kMath:
      return extras.math;
    case Library::kEncoders:
      return extras.encoders;
    case Library::kRegexExt:
      return false;
    default:
      return true;
  }
}

void enable_functions(Environment::State& state, unsigned version) {
  const Extras& extras = state.options.extras;
  state.cross_types = extras.everything || version >= 28;
  for (const Overload& each : overloads()) {
    // overloads across number types are always declared; the checker refuses their use
    const bool compared = each.library == Library::kCrossType;
    state.enabled.push_back(extras.everything || compared || (each.since <= version && is_requested(each.library, extras)));
  }
}

void enable_syntax(Environment::State& state, unsigned version) {
  struct Since {
    MacroSet family;
    unsigned version;
  };
  static constexpr Since kSince[] = {{kOptionalMacros, 28}, {kTwoVariableMacros, 32}, {kSortMacro, 34}};
  const Extras& extras = state.options.extras;
  MacroSet macros = kStandardMacros;
  for (const Since& each : kSince) {
    if (extras.everything || version >= each.version) macros |= each.family;
  }
  if (extras.bindings || extras.everything) macros |= kBindMacro;
  if (extras.math || extras.everything) macros |= kMathMacros;
  state.syntax = {macros, extras.everything || version >= 28, extras.everything};
}

void declare_types(Environment::State& state, unsigned version) {
  struct Named {
    const char* name;
    const Type* type;
  };
  static constexpr Named kNamed[] = {{"bool", &kBoolType},      {"bytes", &kBytesType},   {"double", &kDoubleType}, {"int", &kIntType},
                                     {"null_type", &kNullType}, {"string", &kStringType}, {"type", &kTypeType},     {"uint", &kUintType}};
  for (const Named& each : kNamed) state.types[each.name] = each.type;
  state.types["list"] = state.arena.read("list(A)");
  state.types["map"] = state.arena.read("map(A, B)");
  const bool everything = state.options.extras.everything;
  if (everything || version >= 28)
    state.types[std::string(kOptionalName)] = state.arena.with_parameters({TypeKind::kOpaque, false, kOptionalName}, {});
  if (everything || version >= 30) {
    for (const char* name : {"net.IP", "net.CIDR"}) state.types[name] = state.arena.read(name);
  }
}

void declare_variables(Environment::State& state) {
  for (const TypeRef& each : state.options.types) state.types[each->name] = state.arena.declared(*each, each->name);
  for (const Variable& each : state.options.variables) {
    const std::string_view name = each.type_name.empty() ? std::string_view("object") : std::string_view(each.type_name);
    state.variables[each.name] = state.arena.declared(*each.type, name);
  }
}

}  // namespace

std::shared_ptr<const Environment> Environment::make(EnvironmentOptions options) {
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  const unsigned version = state->options.stored ? kAnyVersion : state->options.version;
  enable_functions(*state, version);
  enable_syntax(*state, version);
  declare_types(*state, version);
  declare_variables(*state);
  state->keyword_fields = version >= 31;
  state->one_type_literals = state->options.strict_literals;
  state->checks_literals = state->options.strict_literals && version >= 29;
  return std::make_shared<const Environment>(std::move(state));
}

Environment::Environment(std::unique_ptr<State> state) : state_(std::move(state)) {}
Environment::~Environment() = default;

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
