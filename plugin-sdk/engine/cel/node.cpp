#include "cel/node.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "backplane/types/cel.hpp"
#include "cel/attribute.hpp"
#include "cel/equality.hpp"
#include "cel/messages.hpp"

namespace backplane::cel_detail {
namespace {

constexpr std::size_t kUsualArguments = 4;

}  // namespace

Node::~Node() = default;

bool is_unbound(const Val& value) noexcept { return value.is_error() && value.zone == 1; }
Val unbound(std::string_view name) noexcept {
  Val out = error_val(name);
  out.zone = 1;
  return out;
}

Val AndOr::eval(Run& run) const {
  Val error;
  bool failed = false;
  for (const NodePtr& term : terms_) {
    const Val value = term->eval(run);
    if (value.is(ValKind::kBool)) {
      if (value.boolean == stop_) return value;
    } else if (!failed) {
      failed = true;
      error = value.is_error() ? value : no_overload();
    }
  }
  return failed ? error : bool_val(!stop_);
}

Val NotFalse::eval(Run& run) const {
  const Val value = term_->eval(run);
  run.charge(1);
  return value.is(ValKind::kBool) ? value : bool_val(true);
}

Val OptionalOr::eval(Run& run) const {
  const Val value = first_->eval(run);
  if (!value.is(ValKind::kOptional)) return value;
  if (value.inner == nullptr) return second_->eval(run);
  return unwrap_ ? *value.inner : value;
}

Val InConstant::eval(Run& run) const {
  const Val item = item_->eval(run);
  if (item.is_error()) return item;
  Val ignored;
  return bool_val(map_find(run.arena, items_, item, ignored));
}

// ---- calls

Invocation::Invocation(Spec spec) : spec_(std::move(spec)) {}
Invocation::~Invocation() = default;

Val Invocation::eval(Run& run) const {
  std::array<Val, kUsualArguments> few;
  const std::size_t count = spec_.arguments.size();
  Val* arguments = count <= kUsualArguments ? few.data() : run.arena.allocate<Val>(count);
  const Val* error = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    arguments[i] = spec_.arguments[i]->eval(run);
    if (!arguments[i].is_error() || error != nullptr) continue;
    error = &arguments[i];
    // If an argument was not evaluated, the call itself costs nothing.
    if (spec_.early && i + 1 < count) return arguments[i];
  }
  const std::span<const Val> all(arguments, count);
  const Val result = error != nullptr ? *error : invoke(run, all);
  run.charge(spec_.cost == nullptr ? 1 : spec_.cost(run.arena, all, result));
  return result;
}

Val Invocation::invoke(Run& run, std::span<const Val> arguments) const {
  Call call{run.arena, arguments, spec_.pattern.get()};
  if (spec_.fixed != nullptr) return spec_.fixed(call);
  if (!spec_.guarded && spec_.candidates.size() == 1) return spec_.candidates[0].function(call);
  for (const Candidate& candidate : spec_.candidates) {
    if (candidate.overload->arguments.size() != arguments.size()) continue;
    bool all = true;
    for (std::size_t i = 0; i < arguments.size() && all; ++i) all = fits(run.arena, *candidate.overload->arguments[i], arguments[i]);
    if (all) return candidate.function(call);
  }
  if (spec_.refusal == Refusal::kReceiver && !arguments[0].is(ValKind::kString))
    return error_val(run.arena, "no such overload: " + std::string(spec_.function));
  if (spec_.refusal != Refusal::kWhole) return no_overload();
  std::string text = "no such overload: " + std::string(spec_.function) + "(";
  for (std::size_t i = 0; i < arguments.size(); ++i) text.append(i == 0 ? "" : ", ").append(type_name(arguments[i]));
  return error_val(run.arena, text + ")");
}

// ---- lists and maps

Val MakeList::eval(Run& run) const {
  Val* items = run.arena.allocate<Val>(items_.size());
  std::size_t size = 0;
  Val failed;
  bool has_failed = false;
  for (const Item& item : items_) {
    Val value = item.node->eval(run);
    if (!value.is_error() && item.optional) {
      if (!value.is(ValKind::kOptional)) {
        value = error_val(run.arena, "cannot initialize optional list element from non-optional value " + plain_text(run.arena, value));
      } else if (value.inner == nullptr) {
        continue;
      } else {
        value = *value.inner;
      }
    }
    if (value.is_error()) {
      failed = value;
      has_failed = true;
      break;
    }
    items[size++] = value;
  }
  run.charge(kListCost);
  return has_failed ? failed : list_val(items, size);
}

Val MakeMap::eval(Run& run) const {
  auto* entries = run.arena.allocate<MapEntry>(items_.size());
  std::size_t size = 0;
  Val failed;
  bool has_failed = false;
  const auto fail = [&](const Val& error) {
    failed = error;
    has_failed = true;
  };
  for (const Item& item : items_) {
    const Val key = item.key->eval(run);
    if (key.is_error()) {
      fail(key);
      break;
    }
    Val value = item.value->eval(run);
    const auto known = std::find_if(entries, entries + size,
                                    [&](const MapEntry& entry) { return entry.key.kind == key.kind && same_key(entry.key, key); });
    if (!value.is_error() && item.optional) {
      if (!value.is(ValKind::kOptional)) {
        value = error_val(run.arena, "cannot initialize optional entry '" + plain_text(run.arena, key) + "' from non-optional value " +
                                         plain_text(run.arena, value));
      } else if (value.inner == nullptr) {
        if (known != entries + size) {
          std::copy(known + 1, entries + size, known);
          --size;
        }
        continue;
      } else {
        value = *value.inner;
      }
    }
    if (value.is_error()) {
      fail(value);
      break;
    }
    // The last of two entries with one key counts.
    if (known != entries + size) {
      known->value = value;
    } else {
      entries[size++] = {key, value};
    }
  }
  run.charge(type_name_.empty() ? kMapCost : kMessageCost);
  if (has_failed) return failed;
  const Val made = make_map(run.arena, entries, size, type_name_);
  return type_name_.empty() ? made : unwrap_message(run.arena, made);
}

// ---- loops

const Val& Fold::start(Run& run) const {
  Local& accumulator = run.locals[spec_.accumulator];
  accumulator.pending = nullptr;
  Val init = spec_.init->eval(run);
  const bool list = init.is(ValKind::kList) && list_size(init) == 0, map = init.is(ValKind::kMap) && map_size(init) == 0;
  if (spec_.collects && (list || map)) {
    init.place = Place::kGrowing;
    init.growing = new (run.arena.allocate<Growing>(1)) Growing();
    init.decl = nullptr;
  }
  run.locals[spec_.accumulator].value = init;
  return run.locals[spec_.accumulator].value;
}

bool Fold::item(Run& run, const Val& first, const Val* second) const {
  run.step();
  run.locals[spec_.first] = {first, nullptr};
  if (second != nullptr) run.locals[spec_.second] = {*second, nullptr};
  const Val go_on = spec_.condition->eval(run);
  if (go_on.is(ValKind::kBool) && !go_on.boolean) return false;
  const Val next = spec_.step->eval(run);
  run.locals[spec_.accumulator] = {next, nullptr};
  return true;
}

void Fold::loop(Run& run, const Val& range) const {
  if (range.is(ValKind::kList)) {
    for (std::size_t i = 0; i < list_size(range); ++i) {
      const Val value = list_at(run.arena, range, i);
      const Val index = int_val(static_cast<std::int64_t>(i));
      if (!(spec_.two ? item(run, index, &value) : item(run, value, nullptr))) return;
    }
    return;
  }
  map_each(run.arena, range, [&](const Val& key, const Val& value) { return item(run, key, spec_.two ? &value : nullptr); });
}

Val Fold::eval(Run& run) const {
  run.locals[spec_.accumulator] = {{}, this};
  const Val range = spec_.range->eval(run);
  if (range.is_error()) return range;
  if (!range.is(ValKind::kList) && !range.is(ValKind::kMap)) {
    const std::string type(go_type(range));
    return error_val(run.arena, spec_.two ? "unsupported comprehension range type: " + type : "got '" + type + "', expected iterable type");
  }
  loop(run, range);
  Val result = spec_.result->eval(run);
  if (result.place != Place::kGrowing) return result;
  const Growing& made = *result.growing;
  if (result.is(ValKind::kList)) return list_val(made.items, made.size);
  if (!result.is(ValKind::kMap)) return result;
  auto* entries = run.arena.allocate<MapEntry>(made.size / 2);
  for (std::uint32_t i = 0; i < made.size; i += 2) entries[i / 2] = {made.items[i], made.items[i + 1]};
  return make_map(run.arena, entries, made.size / 2);
}

}  // namespace backplane::cel_detail
