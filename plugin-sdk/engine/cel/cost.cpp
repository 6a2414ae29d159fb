#include "cel/cost.hpp"

#include <map>
#include <string>
#include <vector>

#include "cel/call_costs.hpp"
#include "cel/cost_sizes.hpp"
#include "cel/problems.hpp"

namespace backplane::cel_detail {
namespace {

bool is_scalar(const Type& type) {
  switch (type.kind) {
    case TypeKind::kBool:
    case TypeKind::kDouble:
    case TypeKind::kDuration:
    case TypeKind::kInt:
    case TypeKind::kTimestamp:
    case TypeKind::kUint:
      return true;
    default:
      return is_optional(type) && is_scalar(*type.parameters[0]);
  }
}

MaybeRange literal_size(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kList:
      return Range::fixed(expr.arguments.size());
    case ExprKind::kMap:
      return Range::fixed(expr.entries.size());
    case ExprKind::kLiteral:
      break;
    default:
      return std::nullopt;
  }
  if (expr.literal.kind == LiteralKind::kString) return Range::fixed(characters_of(expr.literal.text));
  return Range::fixed(expr.literal.kind == LiteralKind::kBytes ? expr.literal.text.size() : 1);
}

class Coster {
 public:
  Coster(const Ast& ast, const Environment::State& environment)
      : ast_(ast), environment_(environment), paths_(ast.ids()), sizes_(ast.ids()), entry_sizes_(ast.ids()) {}

  Range cost(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kLiteral:
        return {};
      case ExprKind::kIdent:
        return ident_cost(expr);
      case ExprKind::kSelect:
        return select_cost(expr);
      case ExprKind::kCall:
        return call_cost(expr);
      case ExprKind::kList:
        return list_cost(expr);
      case ExprKind::kMap:
        return map_cost(expr);
      case ExprKind::kStruct:
        return message_cost(expr);
      case ExprKind::kComprehension:
        return is_bind(*expr.comprehension) ? bind_cost(expr) : loop_cost(expr);
    }
    return {};
  }

 private:
  // ---- sizes

  const DeclType* root_of(std::string_view variable) const {
    const auto& all = environment_.options.variables;
    const DeclType* out = all.empty() ? nullptr : all.front().type.get();
    for (const cel::Variable& each : all) {
      if (each.name == variable) out = each.type.get();
    }
    return out != nullptr && out->form == DeclType::Form::kOptional ? out->items.get() : out;
  }

  // The size from the declaration. As upstream, a value that the expression makes belongs to no variable and counts as the first variable.
  const DeclType* declared_at(const PathSteps& path) const {
    static const DeclType kKeys = [] {
      DeclType out;
      out.form = DeclType::Form::kString;
      return out;
    }();
    const DeclType* at = path.empty() ? nullptr : root_of(path[0]);
    for (std::size_t i = 1; at != nullptr && i < path.size(); ++i) {
      if (path[i] == "@keys") {
        const bool sized = at->keys != nullptr && at->keys->max_elements >= 0;
        at = at->form != DeclType::Form::kMap ? nullptr : sized ? at->keys.get() : &kKeys;
      } else if (path[i] == "@items" || path[i] == "@values") {
        at = at->items.get();
      } else {
        const cel::DeclField* field = at->field(path[i]);
        // A map's entry that is selected like a member has the size of any entry.
        const bool entry = at->form == DeclType::Form::kMap && at->items->form == DeclType::Form::kNamed && at->items->name == "any";
        at = field != nullptr ? field->type.get() : entry ? at->items.get() : nullptr;
      }
    }
    return at;
  }
  static MaybeRange size_of_declared(const DeclType* type) {
    if (type == nullptr || type->max_elements < 0) return std::nullopt;
    return Range{0, static_cast<std::uint64_t>(type->max_elements)};
  }

  const LocalSizes* local(const Expr& expr) const {
    if (expr.kind != ExprKind::kIdent) return nullptr;
    const auto found = locals_.find(expr.name);
    return found == locals_.end() || found->second.empty() ? nullptr : &found->second.back();
  }

  const PathSteps& path_of(const Expr& expr) const {
    const LocalSizes* variable = local(expr);
    return variable != nullptr ? variable->path : paths_[expr.id];
  }

  MaybeRange size_of(const Expr& expr) {
    if (sizes_[expr.id]) return sizes_[expr.id];
    if (const MaybeRange size = literal_size(expr)) return size;
    if (const MaybeRange size = size_of_declared(declared_at(path_of(expr)))) {
      sizes_[expr.id] = size;
      return size;
    }
    if (is_scalar(*ast_.type(expr))) return Range::fixed(1);
    const LocalSizes* variable = local(expr);
    return variable == nullptr ? std::nullopt : variable->size;
  }
  Range size_or_unknown(const Expr& expr) { return size_of(expr).value_or(Range::unknown()); }

  MaybeEntrySizes entries_of(const Expr& expr) const {
    if (entry_sizes_[expr.id]) return entry_sizes_[expr.id];
    const LocalSizes* variable = local(expr);
    return variable == nullptr ? std::nullopt : variable->entries;
  }

  void set_size(const Expr& expr, const MaybeRange& size) {
    if (size) sizes_[expr.id] = size;
  }
  void set_entries(const Expr& expr, const MaybeEntrySizes& sizes) {
    if (sizes) entry_sizes_[expr.id] = sizes;
  }

  // ---- names and members

  Range ident_cost(const Expr& expr) {
    const LocalSizes* variable = local(expr);
    paths_[expr.id] = variable != nullptr ? variable->path : PathSteps(expr.name);
    return Range::fixed(1);
  }

  Range select_cost(const Expr& expr) {
    const Range operand = cost(*expr.operand);
    if (expr.test_only) return operand;
    paths_[expr.id] = path_of(*expr.operand).then(expr.name);
    const TypeKind kind = ast_.type(*expr.operand)->kind;
    return kind == TypeKind::kMap || kind == TypeKind::kStruct ? operand + Range::fixed(1) : operand;
  }

  // ---- calls

  CostNode node(const Expr& expr) {
    CostNode out{&expr, ast_.type(expr), size_of(expr), {}};
    if (const DeclType* declared = declared_at(path_of(expr))) out.items_size = size_of_declared(declared->items.get());
    return out;
  }

  struct Arguments {
    std::vector<CostNode> nodes;
    std::vector<Range> costs;
    Range sum;
  };
  Arguments arguments_of(const Expr& expr) {
    Arguments out;
    for (const Expr* each : expr.arguments) {
      out.costs.push_back(cost(*each));
      out.sum = out.sum + out.costs.back();
      out.nodes.push_back(node(*each));
    }
    return out;
  }

  Range call_cost(const Expr& expr) {
    if (expr.name == "dyn") return dyn_cost(expr);
    const Arguments arguments = arguments_of(expr);
    const Reference* reference = ast_.reference(expr.id);
    if (reference == nullptr || reference->overloads.empty()) return {};
    Range of_target;
    std::optional<CostNode> target;
    if (expr.operand != nullptr) {
      of_target = cost(*expr.operand);
      target = node(*expr.operand);
    }
    Range own{kNoBound, 0};
    MaybeRange size;
    for (const Overload* overload : reference->overloads) {
      const CallEstimate estimate = overload_cost(expr, *overload, target ? &*target : nullptr, arguments);
      own = own.with(estimate.cost);
      if (estimate.result_size) size = size ? size->with(*estimate.result_size) : *estimate.result_size;
      step_into(expr, overload->id, size);
      if (!size) size = size_of(expr);
    }
    set_size(expr, size);
    return of_target + own;
  }

  // An index adds one step to the path.
  void step_into(const Expr& expr, std::string_view overload, MaybeRange& size) {
    if (overload != "index_list" && overload != "index_map") return;
    const MaybeEntrySizes entries = entries_of(*expr.arguments[0]);
    size = entries ? MaybeRange(entries->value) : std::nullopt;
    paths_[expr.id] = path_of(*expr.arguments[0]).then(overload == "index_list" ? "@items" : "@values");
  }

  Range dyn_cost(const Expr& expr) {
    const Range argument = cost(*expr.arguments[0]);
    set_size(expr, size_of(*expr.arguments[0]));
    set_entries(expr, entries_of(*expr.arguments[0]));
    return argument + Range::fixed(1);
  }

  CallEstimate overload_cost(const Expr& expr, const Overload& overload, const CostNode* target, const Arguments& arguments) {
    const CostedCall call{expr.name, overload.id, target, arguments.nodes};
    auto of_library = extension_call_cost(call);
    if (!of_library) of_library = kubernetes_call_cost(call);
    if (of_library) return {of_library->cost + arguments.sum, of_library->result_size};
    if (overload.id == "logical_and" || overload.id == "logical_or") {
      return {Range{arguments.costs[0].min, arguments.sum.max}};
    }
    if (overload.id == "conditional") return conditional_cost(expr, arguments);
    if (auto estimate = language_cost(expr, overload.id, target, arguments.nodes))
      return {estimate->cost + arguments.sum, estimate->result_size};
    return {Range::fixed(1) + arguments.sum};
  }

  CallEstimate conditional_cost(const Expr& expr, const Arguments& arguments) {
    const Range size = arguments.nodes[1].size_or_unknown().with(arguments.nodes[2].size_or_unknown());
    set_entries(expr, both(entries_of(*expr.arguments[1]), entries_of(*expr.arguments[2])));
    return {arguments.costs[0] + arguments.costs[1].with(arguments.costs[2]), size};
  }

  // Functions of the language whose cost grows with their arguments.
  std::optional<CallEstimate> language_cost(const Expr& expr, std::string_view overload, const CostNode* target,
                                            const std::vector<CostNode>& arguments) {
    const auto size = [&](std::size_t i) { return arguments[i].size_or_unknown(); };
    if (overload == "string_format" && target != nullptr) return CallEstimate{target->size_or_unknown().times(kTextFactor)};
    if (overload == "string_to_bytes") return CallEstimate{size(0).times(kTextFactor), Range{size(0).min, size(0).max * 4}};
    if (overload == "bytes_to_string") return CallEstimate{size(0).times(kTextFactor), Range{size(0).min / 4, size(0).max}};
    if (overload == "strings_quote") return CallEstimate{size(0).times(kTextFactor), Range{size(0).min + 2, size(0).max * 2 + 2}};
    if (overload == "starts_with_string" || overload == "ends_with_string") return CallEstimate{size(0).times(kTextFactor)};
    if (overload == "in_list") return CallEstimate{size(1).times(1)};
    if (overload == "matches_string" && target != nullptr) {
      return CallEstimate{(target->size_or_unknown() + Range::fixed(1)).times(kTextFactor) * size(0).times(kPatternFactor)};
    }
    if (overload == "contains_string" && target != nullptr) {
      return CallEstimate{target->size_or_unknown().times(kTextFactor) * size(0).times(kTextFactor)};
    }
    if (overload == "add_string" || overload == "add_bytes" || overload == "add_list") {
      const Range sum = size(0) + size(1);
      set_entries(expr, both(entries_of(*expr.arguments[0]), entries_of(*expr.arguments[1])));
      return CallEstimate{overload == "add_list" ? Range::fixed(1) : sum.times(kTextFactor), sum};
    }
    if (is_comparison(overload)) {
      const std::uint64_t smaller = std::min(size(0).max, size(1).max);
      return CallEstimate{Range{smaller > 0 ? 1u : 0u, smaller}.times(kTextFactor)};
    }
    return std::nullopt;
  }

  static bool is_comparison(std::string_view overload) {
    if (overload == "equals" || overload == "not_equals") return true;
    const bool ordered = overload.starts_with("less_") || overload.starts_with("greater_");
    return ordered && (overload.ends_with("_string") || overload.ends_with("_bytes"));
  }

  // ---- lists, maps, messages

  static Range nothing_yet(bool empty) { return {empty ? 0 : kNoBound, 0}; }

  Range list_cost(const Expr& expr) {
    Range sum = Range::fixed(kListCost), item = nothing_yet(expr.arguments.empty());
    for (const Expr* each : expr.arguments) {
      sum = sum + cost(*each);
      item = item.with(size_or_unknown(*each));
    }
    set_entries(expr, EntrySizes{true, Range::fixed(1), item});
    return sum;
  }

  Range map_cost(const Expr& expr) {
    Range sum = Range::fixed(kMapCost), key = nothing_yet(expr.entries.empty()), value = key;
    for (const Entry& each : expr.entries) {
      sum = sum + cost(*each.key) + cost(*each.value);
      key = key.with(size_or_unknown(*each.key));
      value = value.with(size_or_unknown(*each.value));
    }
    set_entries(expr, EntrySizes{false, key, value});
    return sum;
  }

  Range message_cost(const Expr& expr) {
    Range sum = Range::fixed(kMessageCost);
    for (const Entry& each : expr.entries) sum = sum + cost(*each.value);
    return sum;
  }

  // ---- loops

  static bool is_bind(const Comprehension& loop) {
    return loop.range->kind == ExprKind::kList && loop.range->arguments.empty() && loop.condition->kind == ExprKind::kLiteral &&
           loop.condition->literal.kind == LiteralKind::kBool && !loop.condition->literal.boolean && loop.accumulator != "__result__";
  }

  Range bind_cost(const Expr& expr) {
    const Comprehension& loop = *expr.comprehension;
    Range sum = cost(*loop.range) + cost(*loop.init);
    push_accumulator(loop);
    sum = sum + cost(*loop.result);
    pop(loop.accumulator);
    set_size(expr, size_of(*loop.result));
    set_entries(expr, entries_of(*loop.result));
    return sum;
  }

  void push_accumulator(const Comprehension& loop) {
    locals_[loop.accumulator].push_back({path_of(*loop.init), size_of(*loop.init), entries_of(*loop.init)});
  }
  void pop(std::string_view name) { locals_[name].pop_back(); }

  void push_variables(const Comprehension& loop) {
    const MaybeEntrySizes entries = entries_of(*loop.range);
    const bool list = entries ? entries->list : ast_.type(*loop.range)->kind == TypeKind::kList;
    const PathSteps path = path_of(*loop.range);
    const MaybeRange key = entries ? MaybeRange(entries->key) : std::nullopt, value = entries ? MaybeRange(entries->value) : std::nullopt;
    const auto push_key = [&](std::string_view name) { locals_[name].push_back({path.then(list ? "@indices" : "@keys"), key, {}}); };
    const auto push_value = [&](std::string_view name) { locals_[name].push_back({path.then(list ? "@items" : "@values"), value, {}}); };
    if (loop.second_variable.empty()) return list ? push_value(loop.variable) : push_key(loop.variable);
    push_key(loop.variable);
    push_value(loop.second_variable);
  }

  Range loop_cost(const Expr& expr) {
    const Comprehension& loop = *expr.comprehension;
    Range sum = cost(*loop.range) + cost(*loop.init);
    push_accumulator(loop);
    push_variables(loop);
    const Range condition = cost(*loop.condition), step = cost(*loop.step);
    pop(loop.variable);
    if (!loop.second_variable.empty()) pop(loop.second_variable);
    sum = sum + cost(*loop.result);
    pop(loop.accumulator);
    const Range count = size_or_unknown(*loop.range);
    set_result_sizes(expr, loop, count);
    return sum + count * (step + condition);
  }

  void set_result_sizes(const Expr& expr, const Comprehension& loop, const Range& count) {
    if (loop.init->kind == ExprKind::kLiteral) set_size(expr, size_of(*loop.init));
    if (loop.init->kind != ExprKind::kList && loop.init->kind != ExprKind::kMap) return;
    set_size(expr, count);
    set_entries(expr, entries_of(*loop.step));
  }

  const Ast& ast_;
  const Environment::State& environment_;
  std::vector<PathSteps> paths_;
  std::vector<MaybeRange> sizes_;
  std::vector<MaybeEntrySizes> entry_sizes_;
  std::map<std::string_view, std::vector<LocalSizes>> locals_;
};

}  // namespace

cel::Cost estimate_cost(const Ast& ast, const Environment::State& environment) {
  const Range range = Coster(ast, environment).cost(*ast.root);
  return {range.min, range.max};
}

}  // namespace backplane::cel_detail
