#include "cel/plan.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <list>
#include <map>
#include <optional>

#include "cel/assign.hpp"
#include "cel/equality.hpp"
#include "cel/literals.hpp"
#include "cel/types.hpp"
#include "text/regexp.hpp"

namespace backplane::cel_detail {
namespace {

bool is_any_of(std::string_view text, std::initializer_list<std::string_view> set) {
  return std::find(set.begin(), set.end(), text) != set.end();
}

// The cast runs once per compilation; a virtual function would be needed in every kind of node.
const Constant* as_constant(const Node* node) { return dynamic_cast<const Constant*>(node); }

// Whether a value of the type may be something else at run time: anything, or null.
bool is_open(const Type& type) {
  if (type.kind == TypeKind::kDyn || type.kind == TypeKind::kParam || takes_null(type)) return true;
  return std::any_of(type.parameters.begin(), type.parameters.end(), [](const Type* each) { return is_open(*each); });
}

// The name of the type value: type(x) == list.
std::string_view type_word(std::string_view name) {
  const std::size_t mark = name.find('(');
  return name.substr(0, mark);
}

class Builder {
 public:
  Builder(Plan& plan, const Ast& ast, const cel::EnvironmentOptions& environment) : plan_(plan), ast_(ast), environment_(environment) {}

  std::string problem;

  // Null: there is a problem.
  NodePtr build(const Expr& expr) {
    if (!problem.empty()) return nullptr;
    switch (expr.kind) {
      case ExprKind::kLiteral:
        return constant(literal_val(expr.literal));
      case ExprKind::kIdent:
        return ident(expr);
      case ExprKind::kSelect:
        return select(expr);
      case ExprKind::kCall:
        return call(expr);
      case ExprKind::kList:
        return list(expr);
      case ExprKind::kMap:
      case ExprKind::kStruct:
        return map(expr);
      case ExprKind::kComprehension:
        return loop(expr);
    }
    return nullptr;
  }

 private:
  static NodePtr constant(const Val& value) { return std::make_unique<const Constant>(value); }

  // ---- names

  NodePtr ident(const Expr& expr) {
    Attribute attribute;
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (scope->name != expr.name) continue;
      attribute.base = Attribute::Base::kLocal;
      attribute.slot = scope->slot;
      return std::make_unique<const Access>(std::move(attribute));
    }
    const Type* type = ast_.type(expr);
    const auto declared = std::find_if(environment_.variables.begin(), environment_.variables.end(),
                                       [&](const cel::Variable& variable) { return variable.name == expr.name; });
    if (declared == environment_.variables.end() && type != nullptr && type->kind == TypeKind::kType)
      return constant(type_val(type_word(expr.name)));
    attribute.slot = slot_of(expr.name, declared == environment_.variables.end() ? nullptr : declared->type.get());
    return std::make_unique<const Access>(std::move(attribute));
  }

  std::size_t slot_of(std::string_view name, const cel::DeclType* decl) {
    for (std::size_t i = 0; i < plan_.variables.size(); ++i) {
      if (plan_.variables[i].name == name) return i;
    }
    plan_.variables.push_back({name, decl});
    return plan_.variables.size() - 1;
  }

  // ---- attributes

  NodePtr qualify(NodePtr operand, Qualifier qualifier) {
    if (operand == nullptr) return nullptr;
    auto access = Access::of(std::move(operand));
    if (qualifier.test_only) access->make_test();
    access->attribute().add(std::make_shared<const Qualifier>(std::move(qualifier)));
    return access;
  }

  Qualifier field_qualifier(const Expr& operand, std::string_view name) const {
    Qualifier out;
    out.key = string_val(name);
    const Type* type = ast_.type(operand);
    const cel::DeclType* decl = type == nullptr ? nullptr : type->decl;
    if (decl != nullptr && decl->form == cel::DeclType::Form::kObject) {
      out.object = decl;
      out.field = field_of(*decl, name);
    }
    return out;
  }

  NodePtr select(const Expr& expr) {
    Qualifier qualifier = field_qualifier(*expr.operand, expr.name);
    qualifier.test_only = expr.test_only;
    return qualify(build(*expr.operand), std::move(qualifier));
  }

  NodePtr index(const Expr& expr, bool optional) {
    NodePtr operand = build(*expr.arguments[0]), key = build(*expr.arguments[1]);
    if (operand == nullptr || key == nullptr) return nullptr;
    Qualifier qualifier;
    if (const Constant* value = as_constant(key.get())) {
      const bool written = expr.arguments[1]->kind == ExprKind::kLiteral;
      if (written && (value->value().is(ValKind::kBytes) || value->value().is(ValKind::kNull))) {
        problem = std::string("invalid qualifier type: types.") + (value->value().is(ValKind::kNull) ? "Null" : "Bytes");
        return nullptr;
      }
      if (value->value().is(ValKind::kString)) qualifier = field_qualifier(*expr.arguments[0], value->value().view());
      qualifier.key = value->value();
    } else {
      qualifier.computed = std::make_shared<const Attribute>(std::move(Access::of(std::move(key))->attribute()));
    }
    qualifier.optional = optional;
    return qualify(std::move(operand), std::move(qualifier));
  }

  NodePtr conditional(const Expr& expr) {
    NodePtr condition = build(*expr.arguments[0]), yes = build(*expr.arguments[1]), no = build(*expr.arguments[2]);
    if (condition == nullptr || yes == nullptr || no == nullptr) return nullptr;
    Attribute attribute;
    attribute.base = Attribute::Base::kConditional;
    attribute.node = std::move(condition);
    attribute.truthy = std::make_unique<Attribute>(std::move(Access::of(std::move(yes))->attribute()));
    attribute.falsy = std::make_unique<Attribute>(std::move(Access::of(std::move(no))->attribute()));
    return std::make_unique<const Access>(std::move(attribute));
  }

  // ---- calls

  NodePtr call(const Expr& expr) {
    const std::string_view name = expr.name;
    if (name == "_[_]") return index(expr, false);
    if (name == "_?._" || name == "_[?_]") return index(expr, true);
    if (name == "_?_:_") return conditional(expr);
    if (name == "cel.@block") return block(expr);
    std::vector<const Expr*> arguments;
    if (expr.operand != nullptr) arguments.push_back(expr.operand);
    arguments.insert(arguments.end(), expr.arguments.begin(), expr.arguments.end());
    std::vector<NodePtr> nodes;
    for (const Expr* argument : arguments) {
      nodes.push_back(build(*argument));
      if (nodes.back() == nullptr) return nullptr;
    }
    if (name == "_&&_" || name == "_||_") return std::make_unique<const AndOr>(std::move(nodes), name == "_||_");
    if (name == "@not_strictly_false") return std::make_unique<const NotFalse>(std::move(nodes[0]));
    if ((name == "or" || name == "orValue") && nodes.size() == 2)
      return std::make_unique<const OptionalOr>(std::move(nodes[0]), std::move(nodes[1]), name == "orValue");
    return invocation(expr, arguments, std::move(nodes));
  }

  NodePtr invocation(const Expr& expr, const std::vector<const Expr*>& arguments, std::vector<NodePtr> nodes) {
    const Reference* reference = ast_.reference(expr.id);
    Invocation::Spec spec;
    spec.function = expr.name;
    std::string_view id;
    if (reference != nullptr && reference->overloads.size() == 1) id = reference->overloads[0]->id;
    if (expr.name == "_==_") id = "equals";
    if (expr.name == "_!=_") id = "not_equals";
    if (id == "in_list") {
      if (NodePtr member = in_constant(nodes)) return member;
    }
    spec.cost = cost_of(expr.name, id);
    spec.fixed = operator_of(expr.name);
    spec.guarded = std::any_of(arguments.begin(), arguments.end(), [&](const Expr* each) {
      const Type* type = ast_.type(*each);
      return type == nullptr || is_open(*type);
    });
    if (spec.fixed == nullptr && !candidates(expr, reference, spec)) return nullptr;
    if (!compile_pattern(expr, nodes, spec)) return nullptr;
    spec.refusal = refusal_of(expr.name, spec.pattern != nullptr);
    const bool chosen_by_values = id.empty() && spec.fixed == nullptr;
    spec.early = nodes.size() > 2 || id == "string_format" || chosen_by_values || spec.pattern != nullptr;
    // These functions check their arguments themselves.
    if (is_any_of(expr.name, {"flatten", "sort"})) spec.fixed = spec.candidates[0].function;
    const bool folds = nodes.size() == 1 && as_constant(nodes[0].get()) != nullptr &&
                       is_any_of(expr.name, {"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"});
    spec.arguments = std::move(nodes);
    auto node = std::make_unique<const Invocation>(std::move(spec));
    return folds ? fold(std::move(node)) : NodePtr(std::move(node));
  }

  bool candidates(const Expr& expr, const Reference* reference, Invocation::Spec& spec) {
    for (const Overload* overload : reference == nullptr ? std::span<const Overload* const>() : reference->overloads) {
      if (const Function function = implementation_of(*overload)) spec.candidates.push_back({overload, function});
    }
    if (!spec.candidates.empty()) return true;
    problem = "no such overload: " + std::string(expr.name);
    return false;
  }

  // Functions of texts check their arguments themselves, and so do nodes with a compiled pattern.
  static Invocation::Refusal refusal_of(std::string_view function, bool has_pattern) {
    using Refusal = Invocation::Refusal;
    if (has_pattern || is_any_of(function, {"contains", "startsWith", "endsWith"})) return Refusal::kPlain;
    return function == "matches" ? Refusal::kReceiver : Refusal::kWhole;
  }

  // Functions whose second argument is a pattern; a constant pattern is compiled here.
  bool compile_pattern(const Expr& expr, const std::vector<NodePtr>& nodes, Invocation::Spec& spec) {
    if (nodes.size() < 2 || !is_any_of(expr.name, {"matches", "find", "findAll"})) return true;
    const Constant* pattern = as_constant(nodes[1].get());
    if (pattern == nullptr || !pattern->value().is(ValKind::kString)) return true;
    spec.pattern = schema::compile_regexp(pattern->value().view(), problem);
    return spec.pattern != nullptr;
  }

  // Evaluates a node that has the same value in every run, and returns a constant.
  NodePtr fold(NodePtr node) {
    Arena arena;
    Run run(arena);
    run.limit = ~std::uint64_t{0};
    Val value = node->eval(run);
    if (value.is_error()) {
      problem = value.view();
      return nullptr;
    }
    const bool text = value.is(ValKind::kString) || value.is(ValKind::kBytes);
    if (text) {
      const std::string_view kept = plan_.constants().keep_text(value.view());
      value = text_val(value.kind, kept);
    }
    // Other values are trivial, or are stored in the constants that they were made from.
    return constant(value);
  }

  NodePtr in_constant(std::vector<NodePtr>& nodes) {
    const Constant* list = as_constant(nodes[1].get());
    if (list == nullptr || !list->value().is(ValKind::kList)) return nullptr;
    const Val items = list->value();
    if (items.size == 0) return constant(bool_val(false));
    auto* entries = plan_.constants().allocate<MapEntry>(items.size);
    for (std::uint32_t i = 0; i < items.size; ++i) {
      const ValKind kind = items.items[i].kind;
      if (kind < ValKind::kBool || kind > ValKind::kString) return nullptr;
      entries[i] = {items.items[i], bool_val(true)};
    }
    return std::make_unique<const InConstant>(std::move(nodes[0]), make_map(plan_.constants(), entries, items.size));
  }

  // ---- lists, maps, messages

  NodePtr list(const Expr& expr) {
    std::vector<MakeList::Item> items;
    bool all_constant = true;
    for (const Expr* item : expr.arguments) {
      items.push_back({build(*item), false});
      if (items.back().node == nullptr) return nullptr;
      all_constant = all_constant && as_constant(items.back().node.get()) != nullptr;
    }
    for (const std::uint32_t at : expr.optional_indices) items[at].optional = true;
    if (!all_constant || !expr.optional_indices.empty()) return std::make_unique<const MakeList>(std::move(items));
    Val* values = plan_.constants().allocate<Val>(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) values[i] = as_constant(items[i].node.get())->value();
    return constant(list_val(values, items.size()));
  }

  NodePtr map(const Expr& expr) {
    const bool message = expr.kind == ExprKind::kStruct;
    std::vector<MakeMap::Item> items;
    bool all_constant = !message;
    for (const Entry& entry : expr.entries) {
      NodePtr key = message ? constant(string_val(entry.field)) : build(*entry.key);
      NodePtr value = build(*entry.value);
      if (key == nullptr || value == nullptr) return nullptr;
      all_constant = all_constant && !entry.optional && as_constant(key.get()) != nullptr && as_constant(value.get()) != nullptr;
      items.push_back({std::move(key), std::move(value), entry.optional});
    }
    auto node = std::make_unique<const MakeMap>(std::move(items), message ? expr.name : std::string_view());
    if (!all_constant) return node;
    // The entries of the map must outlive this function, so they are copied into the arena of the constants.
    Arena arena;
    Run run(arena);
    run.limit = ~std::uint64_t{0};
    const Val made = node->eval(run);
    auto* entries = plan_.constants().allocate<MapEntry>(made.entries->size);
    std::copy(made.entries->entries, made.entries->entries + made.entries->size, entries);
    return constant(make_map(plan_.constants(), entries, made.entries->size));
  }

  // ---- loops

  struct Scope {
    std::string_view name;
    std::size_t slot;
  };
  std::size_t declare(std::string_view name) {
    scopes_.push_back({name, plan_.locals});
    return plan_.locals++;
  }

  static bool collects_into(const Expr& step, std::string_view accumulator) {
    bool out = false;
    each_expr(step, [&](const Expr& expr) {
      const bool adds = expr.kind == ExprKind::kCall && (expr.name == "_+_" || expr.name == "cel.@mapInsert") && !expr.arguments.empty();
      out = out || (adds && expr.arguments[0]->kind == ExprKind::kIdent && expr.arguments[0]->name == accumulator);
    });
    return out;
  }

  NodePtr loop(const Expr& expr) {
    const Comprehension& parts = *expr.comprehension;
    Fold::Spec spec;
    spec.range = build(*parts.range);
    spec.init = build(*parts.init);
    const std::size_t scopes = scopes_.size();
    spec.two = !parts.second_variable.empty();
    spec.collects = collects_into(*parts.step, parts.accumulator);
    spec.first = declare(parts.variable);
    if (spec.two) spec.second = declare(parts.second_variable);
    spec.accumulator = declare(parts.accumulator);
    spec.condition = build(*parts.condition);
    spec.step = build(*parts.step);
    scopes_.resize(scopes);
    // The result expression has the accumulator in scope, but not the items.
    scopes_.push_back({parts.accumulator, spec.accumulator});
    spec.result = build(*parts.result);
    scopes_.resize(scopes);
    if (!problem.empty()) return nullptr;
    return std::make_unique<const Fold>(std::move(spec));
  }

  // cel.@block([a, b], x): @index0 and @index1 in x, each evaluated at its first use.
  NodePtr block(const Expr& expr) {
    const std::size_t scopes = scopes_.size();
    std::vector<NodePtr> nodes;
    std::vector<std::size_t> slots;
    for (std::size_t i = 0; i < expr.arguments[0]->arguments.size(); ++i) {
      nodes.push_back(build(*expr.arguments[0]->arguments[i]));
      if (nodes.back() == nullptr) return nullptr;
      block_names_.push_back("@index" + std::to_string(i));
      slots.push_back(declare(*std::prev(block_names_.end())));
    }
    NodePtr result = build(*expr.arguments[1]);
    scopes_.resize(scopes);
    if (result == nullptr) return nullptr;
    // Nested comprehensions over empty lists, with one slot each.
    for (std::size_t i = nodes.size(); i-- > 0;) {
      Fold::Spec spec;
      spec.range = constant(list_val(nullptr, 0));
      spec.init = std::move(nodes[i]);
      spec.condition = constant(bool_val(false));
      spec.step = constant(null_val());
      spec.accumulator = slots[i];
      spec.first = spec.second = plan_.locals++;
      spec.result = std::move(result);
      result = std::make_unique<const Fold>(std::move(spec));
    }
    return result;
  }

  Plan& plan_;
  const Ast& ast_;
  const cel::EnvironmentOptions& environment_;
  std::vector<Scope> scopes_;
  std::list<std::string> block_names_;
};

}  // namespace

Plan::Plan() = default;
Plan::~Plan() = default;

Arena& Plan::constants() {
  if (constants_ == nullptr) constants_ = std::make_unique<Arena>();
  return *constants_;
}

std::unique_ptr<const Plan> make_plan(const Ast& ast, const cel::EnvironmentOptions& environment, std::string& problem) {
  auto plan = std::make_unique<Plan>();
  Builder builder(*plan, ast, environment);
  plan->root = builder.build(*ast.root);
  problem = std::move(builder.problem);
  if (plan->root == nullptr) return nullptr;
  return plan;
}

}  // namespace backplane::cel_detail
