#include "cel/macros.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "cel/tree_maker.hpp"

namespace backplane::cel_detail {
namespace {

// One expansion.  Steps that fail add a problem and return null.
class Expander {
 public:
  Expander(Ast& ast, const MacroCall& call, Problems& problems) : make_(ast, call.offset), call_(call), problems_(problems) {}

  const MacroCall& call() const { return call_; }
  Expr* argument(std::size_t i) const { return call_.arguments[i]; }
  bool is_namespace(std::string_view name) const {
    return call_.target != nullptr && call_.target->kind == ExprKind::kIdent && call_.target->name == name;
  }

  Expr* has() {
    Expr* of = argument(0);
    if (of->kind != ExprKind::kSelect || of->test_only) return refuse(*of, "invalid argument to has() macro");
    return make_.select(of->operand, of->name, true);
  }

  // ---- all, exists, exists_one: with one variable or two

  Expr* all() {
    return loop(kNotSimple, make_.boolean(true), make_.call("@not_strictly_false", {accumulator()}),
                make_.call("_&&_", {accumulator(), last()}), accumulator());
  }
  Expr* exists() {
    return loop(kNotSimple, make_.boolean(false), make_.call("@not_strictly_false", {make_.call("!_", {accumulator()})}),
                make_.call("_||_", {accumulator(), last()}), accumulator());
  }
  Expr* exists_one() {
    Expr* more = make_.call("_+_", {accumulator(), make_.integer(1)});
    return loop(kNotSimple, make_.integer(0), make_.boolean(true), make_.call("_?_:_", {last(), more, accumulator()}),
                make_.call("_==_", {accumulator(), make_.integer(1)}));
  }

  // ---- map, filter, transformList: with a filter if there is one more argument

  Expr* map() { return listing(kNotIdentifier, last(), call_.arguments.size() == 3 ? argument(1) : nullptr); }
  Expr* filter() { return listing(kNotIdentifier, argument(0), argument(1)); }
  Expr* transform_list() {
    variables_ = 2;
    return listing(kNotSimple, last(), call_.arguments.size() == 4 ? argument(2) : nullptr);
  }
  Expr* transform_map(bool entry) {
    variables_ = 2;
    std::vector<Expr*> arguments = {accumulator()};
    if (!entry) arguments.push_back(make_.ident(argument(0)->kind == ExprKind::kIdent ? argument(0)->name : std::string_view()));
    arguments.push_back(last());
    return collecting(kNotSimple, make_.map(), make_.call("cel.@mapInsert", arguments),
                      call_.arguments.size() == 4 ? argument(2) : nullptr);
  }

  void two_variables() { variables_ = 2; }

  // ---- optMap, optFlatMap, bind, sortBy

  Expr* optional_map(bool flat) {
    const std::string name = flat ? "optFlatMap" : "optMap";
    Expr* variable = argument(0);
    if (variable->kind != ExprKind::kIdent) return refuse(*variable, name + "() variable name must be a simple identifier");
    Expr* inner = bind_to(variable->name, make_.member(make_.copy(*call_.target), "value", {}), argument(1));
    return make_.call("_?_:_", {make_.member(call_.target, "hasValue", {}), flat ? inner : make_.call("optional.of", {inner}),
                                make_.call("optional.none", {})});
  }

  Expr* bind() {
    Expr* variable = argument(0);
    if (variable->kind != ExprKind::kIdent) return refuse(*variable, "cel.bind() variable names must be simple identifiers");
    return bind_to(variable->name, argument(1), argument(2));
  }

  // cel.bind(@__sortBy_input__, target, @__sortBy_input__.@sortByAssociatedKeys(@__sortBy_input__.map(variable, key)))
  Expr* sort_by() {
    const ExprKind kind = call_.target->kind;
    if (kind != ExprKind::kSelect && kind != ExprKind::kList && kind != ExprKind::kIdent && kind != ExprKind::kComprehension &&
        kind != ExprKind::kCall) {
      return refuse(*call_.target, "sortBy can only be applied to a list, identifier, comprehension, call or select expression");
    }
    constexpr std::string_view kInput = "@__sortBy_input__";
    Expr* keys = listing_of(make_.ident(kInput));
    if (keys == nullptr) return nullptr;
    return bind_to(kInput, call_.target, make_.member(make_.ident(kInput), "@sortByAssociatedKeys", {keys}));
  }

  // ---- math.greatest, math.least

  Expr* extreme(std::string_view name, std::string_view function) {
    const std::string called = "math." + std::string(name) + "()";
    if (call_.arguments.empty()) return refuse(*call_.target, called + " requires at least one argument");
    for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
      if (const std::string problem = extreme_problem(*argument(i), call_.arguments.size() == 1); !problem.empty()) {
        return refuse(*argument(i), called + " " + problem);
      }
    }
    if (call_.arguments.size() <= 2) return make_.call(function, {call_.arguments.begin(), call_.arguments.end()});
    return make_.call(function, {make_.list({call_.arguments.begin(), call_.arguments.end()})});
  }

 private:
  static constexpr std::string_view kNotSimple = "argument must be a simple name";
  static constexpr std::string_view kNotIdentifier = "argument is not an identifier";

  static bool is_number(const Expr& expr) {
    if (expr.kind != ExprKind::kLiteral)
      return expr.kind != ExprKind::kList && expr.kind != ExprKind::kMap && expr.kind != ExprKind::kStruct;
    const LiteralKind kind = expr.literal.kind;
    return kind == LiteralKind::kInt || kind == LiteralKind::kUint || kind == LiteralKind::kDouble;
  }
  static std::string extreme_problem(const Expr& argument, bool alone) {
    if (!alone) return is_number(argument) ? "" : "simple literal arguments must be numeric";
    if (argument.kind == ExprKind::kList) {
      const auto good = [](const Expr* item) { return is_number(*item); };
      return !argument.arguments.empty() && std::all_of(argument.arguments.begin(), argument.arguments.end(), good)
                 ? ""
                 : "invalid single argument value";
    }
    return is_number(argument) ? "" : "invalid single argument value";
  }

  Expr* accumulator() { return make_.ident(kAccumulator); }
  Expr* last() const { return call_.arguments.back(); }

  Expr* refuse(const Expr& at, std::string_view problem) {
    problems_.add(make_.ast().offset(at.id), std::string(problem));
    return nullptr;
  }

  bool variables_fit(std::string_view not_a_name) {
    for (std::size_t i = 0; i < variables_; ++i) {
      if (argument(i)->kind != ExprKind::kIdent) return refuse(*argument(i), not_a_name) != nullptr;
    }
    if (variables_ == 2 && argument(0)->name == argument(1)->name) {
      return refuse(*argument(1), "duplicate variable name: " + std::string(argument(0)->name)) != nullptr;
    }
    for (std::size_t i = 0; i < variables_; ++i) {
      if (argument(i)->name == kAccumulator || argument(i)->name == "__result__") {
        return refuse(*argument(i), "iteration variable overwrites accumulator variable") != nullptr;
      }
    }
    return true;
  }

  Expr* loop(std::string_view not_a_name, Expr* init, Expr* condition, Expr* step, Expr* result) {
    return loop_over(call_.target, not_a_name, init, condition, step, result);
  }
  Expr* loop_over(Expr* range, std::string_view not_a_name, Expr* init, Expr* condition, Expr* step, Expr* result) {
    if (!variables_fit(not_a_name)) return nullptr;
    return make_.loop(
        {range, argument(0)->name, variables_ == 2 ? argument(1)->name : std::string_view(), kAccumulator, init, condition, step, result});
  }

  Expr* collecting(std::string_view not_a_name, Expr* init, Expr* step, Expr* filter) {
    if (filter != nullptr) step = make_.call("_?_:_", {filter, step, accumulator()});
    return loop(not_a_name, init, make_.boolean(true), step, accumulator());
  }
  Expr* listing(std::string_view not_a_name, Expr* item, Expr* filter) {
    return collecting(not_a_name, make_.list({}), make_.call("_+_", {accumulator(), make_.list({item})}), filter);
  }
  Expr* listing_of(Expr* range) {
    Expr* step = make_.call("_+_", {accumulator(), make_.list({last()})});
    return loop_over(range, kNotIdentifier, make_.list({}), make_.boolean(true), step, accumulator());
  }

  // A comprehension over an empty list, whose accumulator is the variable.
  Expr* bind_to(std::string_view variable, Expr* value, Expr* result) {
    return make_.loop({make_.list({}), "#unused", {}, variable, value, make_.boolean(false), make_.ident(variable), result});
  }

  TreeMaker make_;
  const MacroCall& call_;
  Problems& problems_;
  std::size_t variables_ = 1;
};

using Expand = Expr* (*)(Expander& expander);

struct Macro {
  std::string_view name;
  std::size_t arguments;  // kAny: any number
  bool member;
  MacroFamily family;
  Expand expand;
  std::string_view only_of = {};  // the receiver's name; with another receiver it is an ordinary call
};
constexpr std::size_t kAny = static_cast<std::size_t>(-1);

template <Expr* (Expander::*expand)()>
Expr* two(Expander& expander) {
  expander.two_variables();
  return (expander.*expand)();
}

constexpr Macro kMacros[] = {
    {"has", 1, false, kStandardMacros, [](Expander& e) { return e.has(); }},
    {"all", 2, true, kStandardMacros, [](Expander& e) { return e.all(); }},
    {"all", 3, true, kTwoVariableMacros, two<&Expander::all>},
    {"exists", 2, true, kStandardMacros, [](Expander& e) { return e.exists(); }},
    {"exists", 3, true, kTwoVariableMacros, two<&Expander::exists>},
    {"exists_one", 2, true, kStandardMacros, [](Expander& e) { return e.exists_one(); }},
    {"exists_one", 3, true, kTwoVariableMacros, two<&Expander::exists_one>},
    {"existsOne", 3, true, kTwoVariableMacros, two<&Expander::exists_one>},
    {"map", 2, true, kStandardMacros, [](Expander& e) { return e.map(); }},
    {"map", 3, true, kStandardMacros, [](Expander& e) { return e.map(); }},
    {"filter", 2, true, kStandardMacros, [](Expander& e) { return e.filter(); }},
    {"transformList", 3, true, kTwoVariableMacros, [](Expander& e) { return e.transform_list(); }},
    {"transformList", 4, true, kTwoVariableMacros, [](Expander& e) { return e.transform_list(); }},
    {"transformMap", 3, true, kTwoVariableMacros, [](Expander& e) { return e.transform_map(false); }},
    {"transformMap", 4, true, kTwoVariableMacros, [](Expander& e) { return e.transform_map(false); }},
    {"transformMapEntry", 3, true, kTwoVariableMacros, [](Expander& e) { return e.transform_map(true); }},
    {"transformMapEntry", 4, true, kTwoVariableMacros, [](Expander& e) { return e.transform_map(true); }},
    {"optMap", 2, true, kOptionalMacros, [](Expander& e) { return e.optional_map(false); }},
    {"optFlatMap", 2, true, kOptionalMacros, [](Expander& e) { return e.optional_map(true); }},
    {"bind", 3, true, kBindMacro, [](Expander& e) { return e.bind(); }, "cel"},
    {"sortBy", 2, true, kSortMacro, [](Expander& e) { return e.sort_by(); }},
    {"greatest", kAny, true, kMathMacros, [](Expander& e) { return e.extreme("greatest", "math.@max"); }, "math"},
    {"least", kAny, true, kMathMacros, [](Expander& e) { return e.extreme("least", "math.@min"); }, "math"},
};

const Macro* find_macro(MacroSet families, const MacroCall& call) {
  for (const Macro& each : kMacros) {
    if ((each.family & families) != 0 && each.name == call.name && each.member == (call.target != nullptr) &&
        (each.arguments == kAny || each.arguments == call.arguments.size())) {
      return &each;
    }
  }
  return nullptr;
}

}  // namespace

Expansion expand_macro(Ast& ast, MacroSet families, const MacroCall& call, Problems& problems, Expr*& out) {
  const Macro* macro = find_macro(families, call);
  if (macro == nullptr) return Expansion::kNone;
  Expander expander(ast, call, problems);
  if (!macro->only_of.empty() && !expander.is_namespace(macro->only_of)) return Expansion::kNone;
  Expr* made = macro->expand(expander);
  if (made == nullptr) return Expansion::kRefused;
  out = made;
  return Expansion::kDone;
}

}  // namespace backplane::cel_detail
